// Where the service's sources of one version lie, and how they come there.

import { cpSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const SOURCES = fileURLToPath(new URL('app', import.meta.url))

/** @returns the folder of this version, which need not exist yet */
export function appFolder(version) {
  const { WINNOW_HOME, XDG_DATA_HOME } = process.env
  const home = WINNOW_HOME || join(XDG_DATA_HOME || join(homedir(), '.local/share'), 'winnow')
  return join(home, version)
}

/** Lays the sources into `folder`, whole or not at all; does nothing where they are. */
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
