/** The commands of `winnow database`. */

import { existsSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { loadDatabaseConfig } from '../../../gateway/config.ts'
import { copyDatabase } from '../../../gateway/store/copy.ts'
import { holdDataFolder } from '../../../gateway/store/driver/data-folder.ts'
import { openDatabase } from '../../../gateway/store/driver/open.ts'
import { openPostgres } from '../../../gateway/store/driver/postgres.ts'
import { readSchema } from '../../../gateway/store/schema/schema.ts'
import { openSqlite } from '../../../gateway/store/driver/sqlite.ts'
import { commandText } from '../command-name.ts'
import { action, command, TEXT, UsageError, type CommandIo } from '../command.ts'
import { logTo } from './change.ts'

const HELP = `Usage: ${commandText('database', 'copy [--from sqlite:FILE] [--to postgres://…]')}
       ${commandText('database', 'migrate')}

copy moves an installation from SQLite to PostgreSQL: accounts, keys, files, requests, ledger and
webhooks. Stop the gateway first; engines can keep running. The target database must be empty, and
the source must have the schema of this version. --from defaults to the database in DATA_DIR
(default ./data) and --to to DATABASE_URL, because other users of the machine can see a password on
the command line.

Afterwards, start gateways with DATABASE_URL, and with SIGNING_KEY_FILE and ENCRYPTION_KEY_FILE set
to the files signing-key and encryption-key of the old DATA_DIR. Media stay where they are.

migrate upgrades the database of DATABASE_URL, or else the one in DATA_DIR, to the schema of this
version, as a gateway does when it starts. Back it up first. Older gateways that are running can
keep running; the database records which versions may start again.
`
const SQLITE = 'sqlite:'

export const database = command({
  help: HELP,
  actions: {
    copy: action({
      options: { from: TEXT, to: TEXT },
      run: (values, _operands, io: CommandIo) => copyFrom(values, io),
    }),
    migrate: action({ run: (_values, _operands, io: CommandIo) => migrate(io) }),
  },
})

async function migrate({ env, stderr }: CommandIo): Promise<string> {
  process.umask(0o077) // like the gateway, which creates the file if there is none
  const store = await openDatabase(loadDatabaseConfig(env), logTo(stderr), { migrates: true })
  try {
    const { applied } = await readSchema(store)
    return `The database has the schema ${applied.at(-1)}.\n`
  } finally {
    await store.destroy()
  }
}

function copyFrom(
  values: { from?: string | undefined; to?: string | undefined },
  { env, stderr }: CommandIo,
): Promise<string> {
  const { dataFolder } = loadDatabaseConfig({ DATA_DIR: env.DATA_DIR })
  const source = values.from ?? `${SQLITE}${dataFolder}/winnow.db`
  const target = values.to ?? env.DATABASE_URL
  if (!source.startsWith(SQLITE)) throw new UsageError('--from must have the form sqlite:FILE.')
  const file = resolve(source.slice(SQLITE.length))
  if (!existsSync(file)) throw new UsageError(`--from: there is no file ${file}.`)
  const { databaseUrl: url } = loadDatabaseConfig({ DATABASE_URL: target })
  if (url === undefined) throw new UsageError('Give --to postgres://…, or set DATABASE_URL.')
  return copy(file, url, stderr)
}

async function copy(file: string, url: string, stderr: CommandIo['stderr']): Promise<string> {
  await holdDataFolder(dirname(file)) // anything that a gateway writes from now on would be lost
  const to = await openPostgres({ url, connectionsMax: 1, log: logTo(stderr) })
  try {
    const from = await openSqlite(file)
    try {
      const copied = await copyDatabase(from, to)
      const lines = Object.entries(copied).map(([table, count]) => `${table.padEnd(18)}${count}\n`)
      return `Copied rows:\n${lines.join('')}`
    } finally {
      await from.destroy()
    }
  } finally {
    await to.destroy()
  }
}
