/**
 * Runs commands from a description of each: its help, its options and operands, and its work. Reads
 * the command line, prints results and errors, and sets the exit code.
 */

import { parseArgs, type ParseArgsConfig } from 'node:util'
import { suggestion } from './suggestion.ts'

/** The command line is invalid; the message says how. */
export class UsageError extends Error {}

export interface Output {
  write(text: string): unknown
  isTTY?: boolean
}

/** Environment, streams and the cancel signal of a command. */
export interface CommandIo {
  env: NodeJS.ProcessEnv
  stdin: NodeJS.ReadableStream & { isTTY?: boolean }
  stdout: Output
  stderr: Output
  /** Fires on Ctrl-C, SIGTERM, SIGHUP (a closed terminal) and a closed pipe. */
  signal: AbortSignal
}

type Options = NonNullable<ParseArgsConfig['options']>
type Values<O extends Options> = ReturnType<typeof parseArgs<{ options: O }>>['values']

export interface Action<O extends Options = Options, Io = CommandIo> {
  /**
   * Operands such as `ID`. The last one may be `[NAME]`, which is optional, or `FILE…`, which takes
   * one or more.
   */
  operands?: readonly string[]
  options?: O
  /** @returns the text to print, or the exit code */
  run(values: Values<O>, operands: readonly string[], io: Io): Result | Promise<Result>
}

type Result = string | number

export interface Description<Io> {
  help: string
  /** A single action, or one for each first word. */
  actions: Action<Options, Io> | Readonly<Record<string, Action<Options, Io>>>
  /** Whether what fires the signal cancels the work instead of ending the process. */
  isCancelable?: boolean
  /** Exit code for an invalid command line (default 2). */
  usageCode?: number
  /** Turns an error into a line (default: its message). */
  describe?: (error: Error) => string
}

export interface Command<Io extends CommandIo = CommandIo> extends Description<Io> {
  /** Runs the command with the words after its name; resolves with its exit code. */
  (argv: readonly string[], io: Io): Promise<number>
}

/** A command in the table of all commands (table.mjs). */
export interface CommandRow {
  usage?: string
  does?: string
  /** Whether it only needs a running service. */
  isClient?: boolean
  /** Only for hosts with installed services, which not every installation has. */
  isForHosts?: boolean
  load(): Promise<Command<ProcessIo>>
}

export const TEXT = { type: 'string' } as const
export const TEXTS = { type: 'string', multiple: true } as const
export const FLAG = { type: 'boolean', default: false } as const
const HELP = { help: { type: 'boolean', short: 'h' } } as const

/** Derives the types of the values that `run` gets from the options. */
export const action = <const O extends Options, Io = CommandIo>(described: Action<O, Io>) =>
  described as unknown as Action<Options, Io>

export function command<Io extends CommandIo>(description: Description<Io>): Command<Io> {
  const { help, isCancelable = false, usageCode = 2, describe = messageOf } = description
  const run = async (argv: readonly string[], io: Io) => {
    try {
      const result = await runAction(description, argv, io)
      if (typeof result === 'number') return result
      io.stdout.write(result)
      return 0
    } catch (error) {
      if (isCancelable && io.signal.aborted) {
        io.stderr.write('canceled\n')
        return CANCELED
      }
      const isUsage = error instanceof UsageError
      const line = describe(error as Error)
      io.stderr.write(isUsage ? wrongUsage(line, help) : `${line}\n`)
      return isUsage ? usageCode : 1
    }
  }
  return Object.assign(run, description)
}

/** Runs the command as this process. */
export async function runMain(main: Command<ProcessIo>): Promise<void> {
  const signal = main.isCancelable ? firstEnding() : undefined
  if (!signal) onClosedPipe(() => process.exit())
  process.exitCode = await main(process.argv.slice(2), processIo(signal))
}

/** Exit code after Ctrl-C, as in shells, and after everything else that cancels. */
const CANCELED = 130
const ENDING = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
/**
 * How long a repeated signal counts as the same one: it comes from the terminal, and again from npm
 * or `winnow`.
 */
const SAME_SIGNAL_MS = 500

/**
 * Aborts on a closed pipe or the first signal that would end this process; another signal ends it
 * at once.
 */
function firstEnding(): AbortSignal {
  const controller = new AbortController()
  const cancel = () => {
    if (controller.signal.aborted) return
    controller.abort()
    const leave = () => ENDING.forEach((name) => process.off(name, cancel))
    setTimeout(leave, SAME_SIGNAL_MS).unref()
  }
  for (const name of ENDING) process.on(name, cancel)
  onClosedPipe(cancel, controller.signal)
  return controller.signal
}

/** Sets the exit code and calls `end` once nobody reads the output, as after `| head -1`. */
function onClosedPipe(end: () => void, canceled?: AbortSignal): void {
  for (const output of [process.stdout, process.stderr]) {
    output.on('error', (error: NodeJS.ErrnoException) => {
      // A closed terminal takes no more lines, but canceling goes on.
      if (canceled?.aborted) return
      if (error.code !== 'EPIPE') throw error
      process.exitCode = CANCELED
      end()
    })
  }
}

export type ProcessIo = CommandIo & Pick<NodeJS.Process, 'stdin' | 'stdout' | 'stderr'>

export function processIo(signal = new AbortController().signal): ProcessIo {
  const { env, stdin, stdout, stderr } = process
  return { env, stdin, stdout, stderr, signal }
}

/**
 * Reads the options of a program with a single command, such as a benchmark. Ends the process for
 * --help and for an invalid command line.
 */
export function readOwnArgv<const O extends Options>(
  options: O,
  help = `Options: ${optionNames(options).join(', ')}`,
  operands: readonly string[] = [],
): { values: Values<O>; operands: string[] } {
  try {
    const read = readArgv(process.argv.slice(2), { options, operands })
    if (read !== 'help') return read
    process.stdout.write(`${help.trimEnd()}\n`)
    process.exit(0)
  } catch (error) {
    process.stderr.write(wrongUsage(messageOf(error as Error), help))
    process.exit(2)
  }
}

/** @throws UsageError unless `text` is one of the words */
export function oneOf<Word extends string, Text extends string | undefined>(
  option: string,
  text: Text,
  words: readonly Word[],
): Word | Extract<Text, undefined> {
  const word = words.find((other): boolean => other === (text as string | undefined))
  if (word !== undefined) return word
  if (text === undefined) return undefined as Extract<Text, undefined>
  const choices = `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`
  throw new UsageError(`${option} takes ${choices}, not "${text}".${suggestion(text, words)}`)
}

/** @throws UsageError unless `text` is a whole number in the range */
export function wholeNumber(option: string, text: string, min: number, max: number): number {
  const number = Number(text)
  if (/^\d+$/.test(text) && number >= min && number <= max) return number
  throw new UsageError(`${option} takes a whole number from ${min} to ${max}, not "${text}"`)
}

/** Actions by their first word; a command with a single action has it under the empty word. */
export const actionsOf = <Io>({ actions }: Description<Io>) =>
  isAction(actions) ? { '': actions } : actions

export const optionNames = (options: Options = {}): string[] =>
  Object.keys({ ...options, ...HELP }).map((name) => `--${name}`)

const isAction = <Io>(actions: Description<Io>['actions']): actions is Action<Options, Io> =>
  typeof actions.run === 'function'

const messageOf = ({ message }: Error): string => message

/** The first paragraph of the help is the usage. */
const wrongUsage = (message: string, help: string): string =>
  `${message}\n\n${help.split('\n\n', 1)[0]!.trimEnd()}\n`

async function runAction<Io>(
  { help, actions }: Description<Io>,
  argv: readonly string[],
  io: Io,
): Promise<Result> {
  if (isAction(actions)) return runWith(actions, '', argv)
  const [name = '', ...rest] = argv
  if (name === '--help' || name === '-h') return help
  const chosen = Object.hasOwn(actions, name) ? actions[name] : undefined
  if (chosen) return runWith(chosen, name, rest)
  const names = Object.keys(actions)
  if (name.startsWith('-')) {
    throw new UsageError(
      `Give one of ${names.join(', ')} first, and options after it (see --help).`,
    )
  }
  throw new UsageError(`Give one of ${names.join(', ')} (see --help).${suggestion(name, names)}`)

  function runWith(chosen: Action<Options, Io>, name: string, words: readonly string[]) {
    const read = readArgv(words, chosen, name)
    return read === 'help' ? help : chosen.run(read.values, read.operands, io)
  }
}

/** @throws UsageError */
function readArgv<O extends Options>(
  argv: readonly string[],
  { options, operands = [] }: Pick<Action<O>, 'options' | 'operands'>,
  name = '',
): { values: Values<O>; operands: string[] } | 'help' {
  const { values, positionals } = parse(argv, { ...options, ...HELP })
  if (values.help) return 'help'
  const most = operands.at(-1)?.includes('…') ? Infinity : operands.length
  const least = operands.filter((operand) => !operand.startsWith('[')).length
  if (positionals.length < least || positionals.length > most) {
    const usage = [name, ...operands].filter(Boolean).join(' ')
    if (usage === '') throw new UsageError(`"${positionals[0]}" is no option (see --help).`)
    const what = name === '' ? 'It takes' : 'The command is'
    throw new UsageError(`${what}: ${usage} (see --help).`)
  }
  return { values: values as Values<O>, operands: positionals }
}

function parse(argv: readonly string[], options: Options) {
  try {
    return parseArgs({ args: [...argv], allowPositionals: true, options })
  } catch (error) {
    const { message } = error as Error
    const [, unknown] = /^Unknown option '(-[^']*)'/.exec(message) ?? []
    if (unknown === undefined) throw new UsageError(message)
    const meant = suggestion(unknown, optionNames(options))
    throw new UsageError(`there is no option ${unknown}.${meant}`)
  }
}
