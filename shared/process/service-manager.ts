/**
 * Reports to the service manager that started the process (systemd's sd_notify) when it is ready,
 * how it is doing, that it is alive, and that it is stopping. Without NOTIFY_SOCKET nothing is
 * loaded.
 */

import { loadLibsystemd } from './libsystemd.ts'
import type { Logger } from '../telemetry/log.ts'

type Environment = Readonly<Record<string, string | undefined>>

export interface ServiceManager {
  /** Reports that it serves from now on; `status` is one line for `systemctl status`. */
  ready(status: string): void
  /**
   * From now on, feeds the watchdog at a third of its interval, and reports the status of the
   * process at least every ten seconds.
   * @param beat resolves once everything that must be alive has answered; the watchdog is not fed
   *   before
   */
  keepAlive(beat: () => Promise<void>, status: () => string): void
  /**
   * Reports that it is stopping and may take up to `secondsMax`, even if the manager's limit is
   * lower.
   */
  stopping(secondsMax: number): void
}

/** The longest time between two status reports. */
const STATUS_MS = 10_000

const NOBODY: ServiceManager = { ready() {}, keepAlive() {}, stopping() {} }

/** @throws StartError if a manager waits for reports that cannot be sent */
export async function connectServiceManager(
  env: Environment,
  log: Logger,
): Promise<ServiceManager> {
  if (!env.NOTIFY_SOCKET) return NOBODY
  const { notify } = await loadLibsystemd('NOTIFY_SOCKET')
  const send = (...lines: string[]) => {
    const result = notify(lines.join('\n'))
    if (result < 0) log.warn({ errno: -result }, 'the service manager did not accept a report')
  }
  const periodMs = watchdogMs(env)
  return {
    ready: (status) => send('READY=1', statusLine(status)),
    keepAlive(beat, status) {
      const report = async () => {
        await beat()
        send(...(periodMs ? ['WATCHDOG=1'] : []), statusLine(status()))
      }
      repeat(report, Math.min(periodMs ? periodMs / 3 : STATUS_MS, STATUS_MS), log)
    },
    stopping(secondsMax) {
      send('STOPPING=1', `EXTEND_TIMEOUT_USEC=${secondsMax * 1_000_000}`, 'STATUS=stopping')
    },
  }
}

const statusLine = (status: string): string => `STATUS=${status.replace(/\s+/g, ' ')}`

/** Returns the time within which the watchdog must be fed; undefined if this process has none. */
function watchdogMs({ WATCHDOG_USEC: microseconds, WATCHDOG_PID: pid }: Environment) {
  const isOurs = pid === undefined || pid === String(process.pid)
  return isOurs && Number(microseconds) > 0 ? Number(microseconds) / 1_000 : undefined
}

/** Makes one call at a time, so anything that does not answer is not called again. */
function repeat(work: () => Promise<void>, everyMs: number, log: Logger): void {
  let running = false
  const begin = () => {
    if (running) return
    running = true
    work()
      .catch((error: unknown) => log.warn({ err: error }, 'the watchdog was not fed'))
      .finally(() => {
        running = false
      })
  }
  begin()
  setInterval(begin, everyMs).unref()
}
