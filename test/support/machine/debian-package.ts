/** Provides the programs of Debian packages that tests need. */

import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const run = promisify(execFile)
const RUNTIME = fileURLToPath(new URL('../../../.runtime', import.meta.url))
const PROGRAM_FOLDERS = ['usr/bin', 'usr/sbin']

/** If the program is missing, fails the test with the command that installs it. */
export function assertProgram(program: string, packageName: string): void {
  const { error } = spawnSync(program, ['--version'])
  assert.ok(!error, `${program} is missing: sudo apt-get install -y ${packageName}`)
}

export interface DebianPrograms {
  /** Folder of the programs. */
  folder: string
  /** Environment in which they find the libraries that came with them. */
  env: NodeJS.ProcessEnv
}

/**
 * Returns the installed programs of a package, or else unpacks the package with its missing
 * dependencies, because installing it would require root and might start a service.
 * @throws Error with the command that installs the package
 */
export async function debianPrograms(
  packageName: string,
  programs: readonly string[],
): Promise<DebianPrograms> {
  const root = join(RUNTIME, packageName)
  const inPackage = PROGRAM_FOLDERS.map((folder) => join(root, folder))
  const isThere = (folder: string) => programs.every((name) => existsSync(join(folder, name)))
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', ...inPackage]
  if (!folders.some(isThere)) {
    try {
      await unpack(packageName, root)
    } catch (cause) {
      const command = `sudo apt-get update && sudo apt-get install -y ${packageName}`
      throw new Error(`${packageName} is needed and could not be fetched: ${command}`, { cause })
    }
  }
  const folder = folders.find(isThere)
  if (folder === undefined) throw new Error(`${packageName} has not ${programs.join(', ')}`)
  const libraries = join(root, 'usr/lib/x86_64-linux-gnu')
  return { folder, env: { ...process.env, LD_LIBRARY_PATH: libraries } }
}

async function unpack(packageName: string, root: string): Promise<void> {
  const fresh = await mkdtemp(`${root}.`)
  const fetch = async (options: readonly string[]) => {
    const words = [...options, '--simulate', '--no-install-recommends', 'install', packageName]
    const { stdout } = await run('apt-get', words)
    const missing = [...stdout.matchAll(/^Inst (\S+)/gm)].map(([, name]) => name!)
    await run('apt-get', [...options, 'download', ...missing], { cwd: fresh })
  }
  try {
    await fetch([]).catch(async () => fetch(await ownLists(fresh)))
    for (const file of (await readdir(fresh)).filter((name) => name.endsWith('.deb'))) {
      await run('dpkg', ['--extract', file, 'unpacked'], { cwd: fresh })
    }
    await rename(join(fresh, 'unpacked'), root)
  } catch (error) {
    if (!existsSync(root)) throw error // otherwise another process got there first
  } finally {
    await rm(fresh, { recursive: true, force: true })
  }
}

/**
 * Downloads package lists into `folder` and returns the options that use them, for machines without
 * any, such as containers.
 * @param sources the content of sources.list, in place of the machine's
 */
export async function ownLists(folder: string, sources?: string): Promise<string[]> {
  const [lists, cache] = [join(folder, 'lists'), join(folder, 'cache')]
  await mkdir(join(lists, 'partial'), { recursive: true })
  await mkdir(join(cache, 'archives/partial'), { recursive: true })
  const options = ['-o', `Dir::State::Lists=${lists}`, '-o', `Dir::Cache=${cache}`]
  if (sources !== undefined) {
    await writeFile(join(folder, 'sources.list'), sources)
    options.push('-o', `Dir::Etc::SourceList=${join(folder, 'sources.list')}`)
    options.push('-o', 'Dir::Etc::SourceParts=-')
  }
  await run('apt-get', [...options, 'update'])
  return options
}
