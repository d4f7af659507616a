/** Detects a compute that hangs in a command. */

import type { Logger } from '../../shared/telemetry/log.ts'

/** A timer counts the seconds, not a clock, so that none pass while the process is suspended. */
const TICK_MS = 1_000

export class ComputeWatchdog {
  readonly #secondsMax: number
  readonly #onHang: () => void
  #timer: NodeJS.Timeout | undefined

  /** `onHang` is called when a command has taken `secondsMax`. */
  constructor(secondsMax: number, onHang: () => void) {
    this.#secondsMax = secondsMax
    this.#onHang = onHang
  }

  /** A command begins; the previous one has ended. */
  begin(): void {
    this.end()
    let seconds = 0
    this.#timer = setInterval(() => {
      seconds += 1
      if (seconds === this.#secondsMax) this.#onHang()
    }, TICK_MS)
  }

  /** The compute is idle. */
  end(): void {
    clearInterval(this.#timer)
  }
}

/** Time to write the last line of the log. */
const LAST_LINE_MS = 1_000

/**
 * Kills this process. `process.exit` would wait forever for the compute thread, because nothing
 * interrupts native code. The leases lapse, and other engines take the jobs.
 */
export function killHungProcess(log: Logger, reason: string): void {
  log.fatal(`${reason}: killing this process`)
  setTimeout(() => process.kill(process.pid, 'SIGKILL'), LAST_LINE_MS)
}
