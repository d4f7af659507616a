/** Detects a device that no longer computes: its engine must end. */

/** Jobs in a row that the device failed, with no lane computed between them. */
const FAILURES_MAX = 3

export class DeviceHealth {
  readonly #onSick: () => void
  #failures = 0

  /** `onSick` is called once, when the device has failed `FAILURES_MAX` jobs in a row. */
  constructor(onSick: () => void) {
    this.#onSick = onSick
  }

  /** A lane's result was read: steps of a GPU may be launched, and fail later. */
  computed(): void {
    this.#failures = 0
  }

  /** A try of a job ended by a failure of the device. */
  jobFailed(): void {
    this.#failures += 1
    if (this.#failures === FAILURES_MAX) this.#onSick()
  }
}
