/** Shared by the operator's tools, `keys` and `accounts`: they work on the database itself. */

import { parseArgs, type ParseArgsConfig } from 'node:util'
import { hostname, userInfo } from 'node:os'
import type { ChangeDeps } from '../../../gateway/accounts/accounts.ts'
import { openDatabase } from '../../../gateway/store/open.ts'
import { loadDatabaseConfig } from '../../../gateway/config.ts'
import { systemClock } from '../../../shared/clock.ts'
import { ServiceError } from '../../../shared/errors.ts'
import { StartError } from '../../../shared/process/lifecycle.ts'
import { SettingsError } from '../../../shared/process/settings.ts'
import { printed } from './print.ts'

/** The command line is wrong: the message says how. */
export class UsageError extends Error {}

export interface Command {
  /** Words after the command's name, such as `ID`. */
  operands: readonly string[]
  options?: NonNullable<ParseArgsConfig['options']>
  /** @returns what is printed */
  run(deps: ChangeDeps, operands: readonly string[], options: Options): Promise<object>
}

export type Options = Readonly<Record<string, unknown>>

export interface Tool {
  help: string
  commands: Readonly<Record<string, Command>>
}

/** A tool's surroundings besides the database. */
export interface World {
  env: Readonly<Record<string, string | undefined>>
  stdout: Output
  stderr: Output
}

interface Output {
  write(text: string): unknown
}

/** Errors whose message says all. */
const KNOWN = [UsageError, ServiceError, StartError, SettingsError]

/** The printed message of an error. */
export function messageOf(error: unknown): string {
  const known = KNOWN.some((kind) => error instanceof kind)
  return known ? (error as Error).message : String(error)
}

const COMMON = { json: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } } as const

/** Runs the tool with the words of its command line and resolves with its exit code. */
export async function runTool(
  tool: Tool,
  words: readonly string[],
  { env, stdout, stderr }: World,
): Promise<number> {
  try {
    stdout.write(await obey(tool, words, { env, stderr }))
    return 0
  } catch (error) {
    stderr.write(`${messageOf(error)}\n`)
    return error instanceof UsageError ? 2 : 1
  }
}

async function obey(
  { help, commands }: Tool,
  [name = '', ...words]: readonly string[],
  world: Pick<World, 'env' | 'stderr'>,
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
  const answer = await withDatabase(world, (deps) => command.run(deps, positionals, values))
  return values.json ? `${JSON.stringify(answer)}\n` : printed(answer)
}

function parse({ options }: Command, words: string[]): { values: Options; positionals: string[] } {
  try {
    return parseArgs({ args: words, allowPositionals: true, options: { ...options, ...COMMON } })
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
}

/** Gateways may be running: the database keeps us apart. */
async function withDatabase<T>(
  { env, stderr }: Pick<World, 'env' | 'stderr'>,
  use: (deps: ChangeDeps) => Promise<T>,
): Promise<T> {
  process.umask(0o077) // what lies in the data folder is nobody else's business
  const store = await openDatabase(loadDatabaseConfig(env), {
    warn: (_details, message) => void stderr.write(`${message}\n`),
  })
  try {
    const author = { tool: 'command_line', origin: originOf(env) } as const
    return await use({ store, clock: systemClock, author })
  } finally {
    await store.destroy()
  }
}

/** Who runs the tool, and where; behind sudo, who called it. */
function originOf({ SUDO_USER }: World['env']): string {
  return `${SUDO_USER ?? userName()}@${hostname()}`
}

function userName(): string {
  try {
    return userInfo().username
  } catch {
    return `uid ${process.getuid?.()}` // as in a container, whose user has no name
  }
}
