/** Ends an engine whose compute thread hangs in one command. */

import type { Logger } from '../../shared/telemetry/log.ts'

/** Seconds are counted by a timer, not measured: none pass while the process is suspended. */
const TICK_MS = 1_000

export class ComputeWatchdog {
  readonly #secondsMax: number
  readonly #onHang: () => void
  #timer: NodeJS.Timeout | undefined

  /** `onHang` is called once a command has taken `secondsMax`. */
  constructor(secondsMax: number, onHang: () => void) {
    this.#secondsMax = secondsMax
    this.#onHang = onHang
  }

  /** The thread begins a command; the one before has ended. */
  begin(): void {
    this.end()
    let seconds = 0
    this.#timer = setInterval(() => {
      seconds += 1
      if (seconds === this.#secondsMax) this.#onHang()
    }, TICK_MS)
  }

  /** The thread is idle. */
  end(): void {
    clearInterval(this.#timer)
  }
}

/** Time for the last line of the log to be written. */
const LAST_LINE_MS = 1_000

/**
 * Ends this process. `process.exit` would wait for the compute thread forever, since nothing
 * interrupts native code. Leases that it holds lapse, and other engines take the jobs.
 */
export function killHungProcess(log: Logger, reason: string): void {
  log.fatal(`${reason}: this process ends by SIGKILL`)
  setTimeout(() => process.kill(process.pid, 'SIGKILL'), LAST_LINE_MS)
}
