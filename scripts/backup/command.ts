/**
 * Backs an installation up while it runs, and restores one. The database comes first, as it is at
 * one moment: what it names was stored before it was named, so the media copied after it are all
 * there, but for those that were due and deleted meanwhile.
 */

import { constants } from 'node:fs'
import { copyFile, mkdir, readdir, rename, rm, stat } from 'node:fs/promises'
import { dirname, join, relative, resolve } from 'node:path'
import { openSqlite } from '../../gateway/store/sqlite.ts'
import { snapshotInto } from '../../gateway/store/snapshot.ts'

const HELP = `npm run backup -- FOLDER           backs the installation in DATA_DIR up
npm run backup -- restore FOLDER   restores it into DATA_DIR, which must be empty or missing

The installation may run while it is backed up; it must not while it is restored. A backup holds
the database, the media on this machine and the secrets: keep it where only you can read it. Media
in a bucket (S3_BUCKET) are not in it. The broker needs no backup: what is unfinished is queued
again. The exit code is 0 when done, 1 when it failed, 2 when the command line is wrong.
`

const POSTGRES =
  'DATABASE_URL is set: back a PostgreSQL up with pg_dump, then the media and the key files.'

const DATABASE = 'winnow.db'
const MEDIA = 'media'
/** Where what is not whole yet stands: in the media folder of the gateway, and of a backup. */
const NEW = '.new'
const SECRETS = ['secrets.json', 'signing-key', 'encryption-key', 'api-key']

interface World {
  env: Readonly<Record<string, string | undefined>>
  stdout: { write(text: string): unknown }
  stderr: { write(text: string): unknown }
}

/** Runs the command with the words of its command line and resolves with its exit code. */
export async function runBackup(
  words: readonly string[],
  { env, stdout, stderr }: World,
): Promise<number> {
  const dataFolder = resolve(env.DATA_DIR || './data')
  const [first, second, ...rest] = words
  if (first === '--help' || first === '-h') {
    stdout.write(HELP)
    return 0
  }
  const isRestore = first === 'restore'
  const named = isRestore ? second : first
  if (named === undefined || rest.length > 0 || (!isRestore && second !== undefined)) {
    stderr.write(HELP)
    return 2
  }
  try {
    if (env.DATABASE_URL) throw new Error(POSTGRES)
    const files = isRestore
      ? await restore(resolve(named), dataFolder)
      : await backUp(dataFolder, resolve(named))
    const from = isRestore ? named : dataFolder
    stdout.write(`${files} files of ${from} are in ${isRestore ? dataFolder : named}.\n`)
    return 0
  } catch (error) {
    stderr.write(`${(error as Error).message}\n`)
    return 1
  }
}

/**
 * @param to is made; it appears under its name once it is whole
 * @returns the files in it
 * @throws Error when there is no installation, or `to` exists and is not empty
 */
export async function backUp(dataFolder: string, to: string): Promise<number> {
  await assertThere(join(dataFolder, DATABASE), 'DATA_DIR must name the data of an installation')
  await assertEmpty(to)
  const fresh = `${to}${NEW}`
  await rm(fresh, { recursive: true, force: true })
  await mkdir(fresh, { recursive: true, mode: 0o700 })
  const store = await openSqlite(join(dataFolder, DATABASE))
  try {
    await snapshotInto(store, join(fresh, DATABASE))
  } finally {
    await store.destroy()
  }
  const copied = await copyBeside(dataFolder, fresh)
  await rename(fresh, to)
  return copied + 1
}

/** @throws Error when `from` is no backup, or the data folder is not empty */
export async function restore(from: string, dataFolder: string): Promise<number> {
  await assertThere(join(from, DATABASE), 'FOLDER must name a backup')
  await assertEmpty(dataFolder)
  await mkdir(dataFolder, { recursive: true, mode: 0o700 })
  const copied = await copyBeside(from, dataFolder)
  // The database comes last: a gateway does not serve a restoration that was interrupted.
  await copy(join(from, DATABASE), join(dataFolder, DATABASE))
  return copied + 1
}

/** Copies secrets and media, not the database; what is deleted meanwhile is left out. */
async function copyBeside(from: string, to: string): Promise<number> {
  let copied = 0
  for (const name of SECRETS) {
    copied += await copy(join(from, name), join(to, name))
  }
  for (const path of await filesIn(join(from, MEDIA))) {
    copied += await copy(path, join(to, MEDIA, relative(join(from, MEDIA), path)))
  }
  return copied
}

/** @returns 1, or 0 where there is no such file */
async function copy(from: string, to: string): Promise<0 | 1> {
  await mkdir(dirname(to), { recursive: true, mode: 0o700 })
  try {
    await copyFile(from, to, constants.COPYFILE_FICLONE)
    return 1
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 0
    throw error
  }
}

/** Every file below the folder but what is not whole yet. */
async function filesIn(folder: string): Promise<string[]> {
  if (!(await isThere(folder))) return []
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => !relative(folder, path).startsWith(NEW))
}

const isThere = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  )

async function assertThere(path: string, what: string): Promise<void> {
  if (!(await isThere(path))) throw new Error(`${what}: there is no ${path}.`)
}

async function assertEmpty(folder: string): Promise<void> {
  const entries = (await isThere(folder)) ? await readdir(folder) : []
  if (entries.length > 0) throw new Error(`${folder} must be empty, or not exist yet.`)
}
