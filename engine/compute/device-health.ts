/** Detects a device that no longer computes, so that the engine can end. */

/** How many jobs in a row may fail because of the device without a lane being computed. */
const FAILURES_MAX = 3

export class DeviceHealth {
  readonly #onSick: () => void
  #failures = 0

  /** `onSick` is called once, when the device has failed `FAILURES_MAX` jobs in a row. */
  constructor(onSick: () => void) {
    this.#onSick = onSick
  }

  /**
   * Tells that the result of a lane was read. Launching a step proves nothing, because on a GPU it
   * may still fail later.
   */
  computed(): void {
    this.#failures = 0
  }

  /** An attempt at a job failed because of the device. */
  jobFailed(): void {
    this.#failures += 1
    if (this.#failures === FAILURES_MAX) this.#onSick()
  }
}
