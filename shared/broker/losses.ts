/** Losses of all that the broker stored; one that nobody follows yet is kept for who does. */
export class Losses {
  #handle: (() => void) | undefined
  #isUnseen = false

  note(): void {
    this.#isUnseen = this.#handle === undefined
    this.#handle?.()
  }

  follow(handle: () => void): void {
    this.#handle = handle
    if (this.#isUnseen) this.note()
  }
}
