/** What the operator's tools, `keys` and `accounts`, share: they work on the database itself. */

import { mkdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { parseArgs, type ParseArgsConfig } from 'node:util'
import type { AccountDeps } from '../../gateway/accounts/accounts.ts'
import { openSqlite } from '../../gateway/store/database.ts'
import { systemClock } from '../../shared/clock.ts'
import { ServiceError } from '../../shared/errors.ts'
import { printed } from './print.ts'

/** The command line is wrong: the message says how. */
export class UsageError extends Error {}

export interface Command {
  /** What follows the command's name, such as `ID`. */
  operands: readonly string[]
  options?: NonNullable<ParseArgsConfig['options']>
  /** @returns what is printed */
  run(deps: AccountDeps, operands: readonly string[], options: Options): Promise<object>
}

export type Options = Readonly<Record<string, unknown>>

export interface Tool {
  help: string
  commands: Readonly<Record<string, Command>>
}

/** What a tool touches beside the database. */
export interface World {
  env: Readonly<Record<string, string | undefined>>
  stdout: Output
  stderr: Output
}

interface Output {
  write(text: string): unknown
}

const COMMON = { json: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } } as const

/** Runs the tool with the words of its command line and resolves with its exit code. */
export async function runTool(
  tool: Tool,
  words: readonly string[],
  { env, stdout, stderr }: World,
): Promise<number> {
  try {
    stdout.write(await obey(tool, words, env))
    return 0
  } catch (error) {
    const known = error instanceof UsageError || error instanceof ServiceError
    stderr.write(`${known ? error.message : String(error)}\n`)
    return error instanceof UsageError ? 2 : 1
  }
}

async function obey(
  { help, commands }: Tool,
  [name = '', ...words]: readonly string[],
  env: World['env'],
): Promise<string> {
  if (name === '--help' || name === '-h') return help
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined
  if (!command) throw new UsageError(`Give one of ${Object.keys(commands).join(', ')}.\n\n${help}`)
  const { values, positionals } = parse(command, words)
  if (values.help) return help
  if (positionals.length !== command.operands.length) {
    const wanted = [name, ...command.operands].join(' ')
    throw new UsageError(`The command is: ${wanted} (see --help).`)
  }
  const answer = await withDatabase(env, (deps) => command.run(deps, positionals, values))
  return values.json ? `${JSON.stringify(answer)}\n` : printed(answer)
}

function parse({ options }: Command, words: string[]): { values: Options; positionals: string[] } {
  try {
    return parseArgs({ args: words, allowPositionals: true, options: { ...options, ...COMMON } })
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
}

/** The gateway may be running: SQLite allows one writer at a time, and the other waits. */
async function withDatabase<T>(
  env: World['env'],
  use: (deps: AccountDeps) => Promise<T>,
): Promise<T> {
  process.umask(0o077) // the data folder is private to this user
  const dataFolder = resolve(env.DATA_DIR || './data')
  await mkdir(dataFolder, { recursive: true })
  const store = await openSqlite(join(dataFolder, 'winnow.db'))
  try {
    return await use({ store, clock: systemClock })
  } finally {
    await store.destroy()
  }
}
