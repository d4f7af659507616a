/** Runs `top`, from the words of its command line to its exit code. */

import { setTimeout as sleep } from 'node:timers/promises'
import type { Fleet } from '../../../gateway/operations/fleet.ts'
import { rememberSnapshot } from '../../../shared/engine-rates.ts'
import { NoAnswerError, readFleet, readGateway, type Gateway } from '../admin-access.ts'
import { commandText } from '../command-name.ts'
import { action, command, FLAG, TEXT, UsageError, type CommandIo } from '../command.ts'
import { fleetText } from './fleet-text.ts'

const HELP = `Usage: ${commandText('top', '[options]')}

Shows the engines of a service, its queue and the latest failed requests, and updates them until
Ctrl-C.

  --once                show them once
  --interval SECONDS    between updates, 1 to 3600 (default 2)
  --url URL             the gateway's URL for admins (or ADMIN_URL, WINNOW_URL; default: the one
                        running on DATA_DIR, otherwise http://127.0.0.1:8080)
  --token TOKEN         its ADMIN_TOKEN (or ADMIN_TOKEN in the environment; for a gateway on this
                        machine also the file admin-token in DATA_DIR, by default ./data)

FILL is how full batches are, AUDIO S/S the seconds of media separated per second, and BUSY the
share of time in which the device computed: during the last minute, or at first since the engine
started. The exit code is 0, 1 if the gateway did not respond, or 2 if the command line is wrong.
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
  const snapshots: Fleet[] = []
  while (!signal.aborted) {
    const text = await lookAgain(gateway, snapshots, signal)
    stdout.write(stdout.isTTY ? HOME + text : `${text}\n`)
    await sleep(intervalMs, undefined, { signal }).catch(() => undefined)
  }
}

async function lookAgain(
  gateway: Gateway,
  snapshots: Fleet[],
  signal: AbortSignal,
): Promise<string> {
  try {
    const fleet = await readFleet(gateway, signal)
    return fleetText(fleet, rememberSnapshot(snapshots, fleet))
  } catch (error) {
    if (!(error instanceof NoAnswerError) || signal.aborted) throw error
    return `${error.message}\n`
  }
}
