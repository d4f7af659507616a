/**
 * Backs an installation up while it runs, and restores one. The database is saved first, as of a
 * single moment. Whatever it refers to was stored before, so the media copied afterwards is
 * complete, except for files that expired in the meantime.
 */

import { chmod, mkdtemp, readdir, readFile, rename, rm } from 'node:fs/promises'
import { dirname, join, relative, resolve } from 'node:path'
import { makeFolder } from '../../../shared/process/make-folder.ts'
import { commandText } from '../command-name.ts'
import { action, command, UsageError, type CommandIo } from '../command.ts'
import { databaseOf, type Database } from './database.ts'
import { assertEmpty, assertThere, copy, isThere } from './files.ts'

const HELP = `Usage: ${commandText('backup', 'FOLDER')}
       ${commandText('backup', 'restore FOLDER')}

The first form backs up the installation in DATA_DIR. The second restores it into DATA_DIR, which
must be empty or missing.

The installation can run during a backup, but not during a restore. A backup contains the database,
the media on this machine and the secrets, so keep it where only you can read it. It does not
contain media in a bucket (S3_BUCKET). The broker needs no backup, because unfinished requests are
queued again.

Ctrl-C, SIGTERM, SIGHUP and a closed pipe cancel either form. A canceled backup leaves nothing
behind, but one that was killed leaves a folder named FOLDER.??????, with keys. After a canceled
restore, empty DATA_DIR before the next one. The exit code is 0 if done, 1 if it failed, 2 if the
command line is wrong, and 130 if canceled.

If DATABASE_URL, SIGNING_KEY_FILE and ENCRYPTION_KEY_FILE are set as for the gateways, the database
is that PostgreSQL: pg_dump saves it, and pg_restore fills an empty one. The keys are restored to
the two files.
`

const MEDIA = 'media'
/** Folder of incomplete files in the gateway's media folder. */
const NEW = '.new'

interface Installation {
  dataFolder: string
  database: Database
  /** Files besides the database, by their names in a backup. */
  secrets: Readonly<Record<string, string>>
  /** Cancels its backup or restore. */
  signal: AbortSignal
}

export const backup = command({
  help: HELP,
  isCancelable: true,
  actions: action({
    operands: ['[restore]', 'FOLDER'],
    async run(_options, operands, { env, signal }) {
      const isRestore = operands[0] === 'restore'
      if (operands.length !== (isRestore ? 2 : 1)) throw new UsageError('Give one FOLDER.')
      const folder = operands.at(-1)!
      const installation = installationOf(env, signal)
      const { dataFolder } = installation
      const files = isRestore
        ? await restore(resolve(folder), installation)
        : await backUp(installation, resolve(folder))
      const [from, to] = isRestore ? [folder, dataFolder] : [dataFolder, folder]
      return `${files} files of ${from} are in ${to}.\n`
    },
  }),
})

function installationOf(env: CommandIo['env'], signal: AbortSignal): Installation {
  const dataFolder = resolve(env.DATA_DIR || './data')
  const pathOf = (name: string) => join(dataFolder, name)
  return {
    dataFolder,
    database: databaseOf(env, dataFolder, signal),
    secrets: {
      'secrets.json': pathOf('secrets.json'),
      'signing-key': env.SIGNING_KEY_FILE || pathOf('signing-key'),
      'encryption-key': env.ENCRYPTION_KEY_FILE || pathOf('encryption-key'),
      'api-key': pathOf('api-key'),
    },
    signal,
  }
}

/**
 * @param to is created, and gets its name once it is complete
 * @returns how many files it contains
 * @throws Error if there is no installation, or `to` exists and is not empty; the signal's reason
 */
async function backUp(installation: Installation, to: string): Promise<number> {
  const { dataFolder, database, secrets, signal } = installation
  await assertEmpty(to)
  if (database.isShared) await assertKeys(secrets)
  await makeFolder(dirname(to), 0o700)
  const fresh = await mkdtemp(`${to}.`) // only its owner can read it
  try {
    await database.save(join(fresh, database.file))
    await chmod(join(fresh, database.file), 0o600) // wherever it is moved to
    let copied = await copyMedia(dataFolder, fresh, signal)
    for (const [name, path] of Object.entries(secrets)) {
      copied += await copy(path, join(fresh, name))
    }
    signal.throwIfAborted()
    await rename(fresh, to)
    return copied + 1
  } catch (error) {
    await rm(fresh, { recursive: true, force: true })
    throw error
  }
}

/** Without the key files nothing encrypted in the database could be read again. */
async function assertKeys(secrets: Installation['secrets']): Promise<void> {
  await assertThere(secrets['signing-key']!, 'SIGNING_KEY_FILE must name the file of the gateways')
  await assertThere(
    secrets['encryption-key']!,
    'ENCRYPTION_KEY_FILE must name the file of the gateways',
  )
}

/**
 * @throws Error if `from` is not a backup, or something would be overwritten; the signal's reason
 */
async function restore(from: string, installation: Installation): Promise<number> {
  const { dataFolder, database, secrets, signal } = installation
  const saved = join(from, database.file)
  await assertThere(
    saved,
    `FOLDER must name a backup of ${database.isShared ? 'a PostgreSQL' : 'SQLite'}`,
  )
  await assertEmpty(dataFolder)
  await database.assertEmpty()
  for (const [name, path] of Object.entries(secrets)) await assertNoOther(join(from, name), path)
  await makeFolder(dataFolder, 0o700)
  let copied = await copyMedia(from, dataFolder, signal)
  for (const [name, path] of Object.entries(secrets)) copied += await copy(join(from, name), path)
  // The database comes last, so that no gateway serves an interrupted restore.
  await database.load(saved)
  return copied + 1
}

/** A key file of the admin may exist if it is the same as in the backup. */
async function assertNoOther(saved: string, path: string): Promise<void> {
  if (!(await isThere(saved)) || !(await isThere(path))) return
  if ((await readFile(saved)).equals(await readFile(path))) return
  throw new Error(`${path} is another than in the backup: move it away first.`)
}

/**
 * Skips files that are deleted in the meantime.
 * @returns how many files were copied
 * @throws the signal's reason
 */
async function copyMedia(from: string, to: string, signal: AbortSignal): Promise<number> {
  const folder = join(from, MEDIA)
  let copied = 0
  for (const path of await filesIn(folder)) {
    signal.throwIfAborted()
    copied += await copy(path, join(to, MEDIA, relative(folder, path)))
  }
  return copied
}

/** Every complete file below the folder. */
async function filesIn(folder: string): Promise<string[]> {
  if (!(await isThere(folder))) return []
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => !relative(folder, path).startsWith(NEW))
}
