/** Runs `top`, from the words of its command line to its exit code. */

import { setTimeout as sleep } from 'node:timers/promises'
import type { Fleet } from '../../../gateway/operations/fleet.ts'
import { rememberSnapshot } from '../../../shared/engine-rates.ts'
import { NoAnswerError, readFleet, readGateway, type Gateway } from '../admin-access.ts'
import { commandText } from '../command-name.ts'
import { action, command, FLAG, TEXT, UsageError, type CommandIo } from '../command.ts'
import { fleetText } from './fleet-text.ts'

const HELP = `Usage: ${commandText('top', '[options]')}

Shows the engines of a Winnow, its queue and the requests that failed last, and shows them
again until Ctrl-C.

  --once            show them once
  --interval SECONDS   between two looks, 1 to 3600 (default 2)
  --url URL         the gateway's address for admins (or ADMIN_URL, WINNOW_URL; default:
                    the one that runs on DATA_DIR, else http://127.0.0.1:8080)
  --token TOKEN     its ADMIN_TOKEN (or in the environment as such; for a gateway on this
                    machine also the file admin-token in DATA_DIR, by default ./data)

FILL is how full a batch is, AUDIO S/S the seconds of media separated in a second, BUSY the
share of the time in which the device worked: of the last minute, and in the first look of
the time since the engine started. The exit code is 0, 1 when the gateway gave no answer, 2
when the command line is wrong.
`

/** To the first column of the first line; and what is left below the last. */
const HOME = '\x1b[H\x1b[2J'

/** Shows engines, queue and failures. */
export const top = command({
  help: HELP,
  isCancelable: true,
  actions: action({
    options: { once: FLAG, interval: { ...TEXT, default: '2' }, url: TEXT, token: TEXT },
    async run({ once, interval, ...values }, _operands, io) {
      const seconds = Number(interval)
      if (!(seconds >= 1 && seconds <= 3_600)) {
        throw new UsageError(`--interval must be 1 to 3600 seconds, not "${interval}".`)
      }
      const gateway = readGateway(values, io.env)
      if (once) return fleetText(await readFleet(gateway, io.signal))
      await watch(gateway, 1_000 * seconds, io).catch((error: unknown) => {
        if (!io.signal.aborted) throw error
      })
      return 0
    },
  }),
})

/** Shows the fleet until Ctrl-C; while the gateway is away, why. */
async function watch(
  gateway: Gateway,
  intervalMs: number,
  { stdout, signal }: CommandIo,
): Promise<void> {
  const looks: Fleet[] = []
  while (!signal.aborted) {
    const text = await lookAgain(gateway, looks, signal)
    stdout.write(stdout.isTTY ? HOME + text : `${text}\n`)
    await sleep(intervalMs, undefined, { signal }).catch(() => undefined)
  }
}

async function lookAgain(gateway: Gateway, looks: Fleet[], signal: AbortSignal): Promise<string> {
  try {
    const fleet = await readFleet(gateway, signal)
    return fleetText(fleet, rememberSnapshot(looks, fleet))
  } catch (error) {
    if (!(error instanceof NoAnswerError) || signal.aborted) throw error
    return `${error.message}\n`
  }
}
