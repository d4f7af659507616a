// Describes the installation of the npm package: the first use copies the service's sources into a
// folder named by their version, and sets them up.

import { cpSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const SOURCES = fileURLToPath(new URL('app', import.meta.url))

/** How users call the command. */
export const CALLED = 'npx winnow'

export const MANIFEST = new URL('package.json', import.meta.url)

/** Whether services can be installed on this host from here. */
export const HAS_HOSTS = false

/** Developers' tools exist only in a checkout. */
export const MORE_PROGRAMS = {}

export const NOTE = `
The first command other than separate, requests and open sets the service up: a few minutes and
about 2 GB, below WINNOW_HOME (default ~/.local/share/winnow). Data goes to DATA_DIR (default
./data).
`

/**
 * @param version of the package
 * @param run runs node with these arguments and resolves with its exit code
 * @returns the folder of the sources, set up
 */
export async function prepareApp(version, run) {
  const app = appFolder(version)
  layApp(app)
  const code = await run([`${app}/scripts/setup/setup.mjs`])
  if (code !== 0) process.exit(code)
  return app
}

/** @returns the folder of this version, which may not exist yet */
function appFolder(version) {
  const { WINNOW_HOME, XDG_DATA_HOME } = process.env
  const home = WINNOW_HOME || join(XDG_DATA_HOME || join(homedir(), '.local/share'), 'winnow')
  return join(home, version)
}

/** Copies the sources into `folder` in one atomic step, unless the folder exists. */
export function layApp(folder) {
  if (existsSync(folder)) return
  mkdirSync(dirname(folder), { recursive: true })
  const fresh = mkdtempSync(`${folder}-`)
  cpSync(SOURCES, fresh, { recursive: true })
  try {
    renameSync(fresh, folder)
  } catch (error) {
    rmSync(fresh, { recursive: true })
    if (!existsSync(folder)) throw error // else another process was faster
  }
}

/** Runs a client command, which is bundled into a single file. */
export const runClient = (command) => import(`./${command}.mjs`)
