/**
 * Reports losses of everything that the broker stored. A loss that happens before anybody follows
 * is kept for the first follower.
 */
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
