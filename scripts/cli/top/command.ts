/** Runs `top`, from the words of its command line to its exit code. */

import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import type { Fleet } from '../../../gateway/operations/fleet.ts'
import { called } from '../command-name.ts'
import { fleetText } from './fleet-text.ts'

const HELP = `Usage: ${called('top', '[options]')}

Shows the engines of a Winnow, its queue and the requests that failed last, and shows them
anew until Ctrl-C.

  --once            show them once
  --interval SECONDS   between two looks, 1 to 3600 (default 2)
  --url URL         the gateway (or WINNOW_URL; default http://127.0.0.1:8080)
  --token TOKEN     its ADMIN_TOKEN (or in the environment as such)

FILL is how full a batch is, AUDIO S/S the seconds of media separated in a second, BUSY the
share of the time in which the device worked: of the last minute, and in the first look of
the time since the engine started. The exit code is 0, 1 when the gateway gave no answer, 2
when the command line is wrong.
`

export interface World {
  env: Readonly<Record<string, string | undefined>>
  stdout: { write(text: string): unknown; isTTY?: boolean }
  stderr: { write(text: string): unknown }
  /** Fires on Ctrl-C. */
  signal: AbortSignal
}

/** The command line is wrong: the message says how. */
class UsageError extends Error {}

/** The gateway gave no answer that helps. */
class NoAnswerError extends Error {}

const WINDOW_MS = 60_000
const ANSWER_MS_MAX = 10_000
/** To the first column of the first line; and what is left below the last. */
const HOME = '\x1b[H\x1b[2J'

/** Runs the command and resolves with its exit code. */
export async function top(words: string[], world: World): Promise<number> {
  try {
    const args = readArguments(words, world.env)
    if (args === 'help') world.stdout.write(HELP)
    else if (args.once) world.stdout.write(fleetText(await readFleet(args, world.signal)))
    else await watch(args, world)
    return 0
  } catch (error) {
    if (world.signal.aborted) return 0
    const known = error instanceof UsageError || error instanceof NoAnswerError
    world.stderr.write(`${known ? error.message : String(error)}\n`)
    return error instanceof UsageError ? 2 : 1
  }
}

interface Arguments {
  once: boolean
  intervalMs: number
  url: string
  token: string
}

function readArguments(args: string[], env: World['env']): Arguments | 'help' {
  const values = parse(args)
  if (values.help) return 'help'
  const seconds = Number(values.interval ?? '2')
  if (!(seconds >= 1 && seconds <= 3_600)) {
    throw new UsageError(`--interval must be 1 to 3600 seconds, not "${values.interval}".`)
  }
  const url = values.url ?? env.WINNOW_URL ?? 'http://127.0.0.1:8080'
  if (!URL.canParse(url)) throw new UsageError(`--url must be an address, not "${url}".`)
  const token = values.token ?? env.ADMIN_TOKEN
  if (!token) throw new UsageError("Give the gateway's ADMIN_TOKEN, in the environment or --token.")
  return { once: values.once ?? false, intervalMs: 1_000 * seconds, url, token }
}

function parse(args: string[]) {
  const text = { type: 'string' } as const
  const flag = { type: 'boolean' } as const
  const options = { once: flag, help: flag, interval: text, url: text, token: text }
  try {
    return parseArgs({ args, options }).values
  } catch (error) {
    throw new UsageError(`${(error as Error).message} (see --help)`)
  }
}

/** Shows the fleet until Ctrl-C; while the gateway is away, why. */
async function watch(args: Arguments, { stdout, signal }: World): Promise<void> {
  const looks: Fleet[] = []
  while (!signal.aborted) {
    const text = await lookAgain(args, looks, signal)
    stdout.write(stdout.isTTY ? HOME + text : `${text}\n`)
    await sleep(args.intervalMs, undefined, { signal }).catch(() => undefined)
  }
}

async function lookAgain(args: Arguments, looks: Fleet[], signal: AbortSignal): Promise<string> {
  try {
    const fleet = await readFleet(args, signal)
    const oldest = Date.parse(fleet.at) - WINDOW_MS
    while (looks[0] && Date.parse(looks[0].at) < oldest) looks.shift()
    looks.push(fleet)
    return fleetText(fleet, looks[0])
  } catch (error) {
    if (!(error instanceof NoAnswerError) || signal.aborted) throw error
    return `${error.message}\n`
  }
}

/** @throws NoAnswerError */
async function readFleet({ url, token }: Arguments, signal: AbortSignal): Promise<Fleet> {
  const address = new URL('/admin/fleet', url)
  const headers = { authorization: `Bearer ${token}` }
  const either = AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS_MAX)])
  const reply = await fetch(address, { headers, signal: either }).catch((cause: unknown) => {
    throw new NoAnswerError(`No answer from ${address.origin}: is the gateway there?`, { cause })
  })
  if (reply.ok) return (await reply.json()) as Fleet
  if (reply.status === 401) throw new NoAnswerError('The gateway has another ADMIN_TOKEN.')
  if (reply.status === 404) {
    throw new NoAnswerError('The gateway has no admin API: set ADMIN_TOKEN there, or upgrade it.')
  }
  throw new NoAnswerError(`The gateway answered ${reply.status}.`)
}
