/** How many seconds of the device each account, or each request, has had. */

/**
 * A newcomer starts so far below the others. At their very level the lane that was opened first
 * would come first, and leave the newcomer's out of its batch where that is of another length.
 */
const NEWCOMER_SECONDS = 1e-6

export class ServedSeconds {
  readonly #seconds = new Map<string, number>()
  /** Names that have joined, and have had nothing since. */
  readonly #newcomers = new Set<string>()

  /** By name. */
  get seconds(): ReadonlyMap<string, number> {
    return this.#seconds
  }

  /**
   * A name that is new, or returns, starts a hair below the smallest count of the others: it is in
   * the next batch, and idling earns no credit. Newcomers start level with each other, so that the
   * first of them comes first.
   * @param open the names with open lanes; one of them keeps its count
   */
  join(name: string, open: readonly string[]): void {
    if (open.includes(name)) return
    const served = open.filter((other) => !this.#newcomers.has(other))
    const lowest = (names: readonly string[]) =>
      Math.min(...names.map((other) => this.#seconds.get(other) ?? 0))
    const level =
      served.length > 0 ? lowest(served) - NEWCOMER_SECONDS : open.length > 0 ? lowest(open) : 0
    this.#seconds.set(name, Math.max(this.#seconds.get(name) ?? level, level))
    this.#newcomers.add(name)
  }

  add(name: string, seconds: number): void {
    this.#seconds.set(name, (this.#seconds.get(name) ?? 0) + seconds)
    this.#newcomers.delete(name)
  }

  /** Forgets all but `open` once there are more names than `namesMax`. */
  prune(open: ReadonlySet<string>, namesMax: number): void {
    if (this.#seconds.size <= namesMax) return
    for (const name of this.#seconds.keys()) {
      if (open.has(name)) continue
      this.#seconds.delete(name)
      this.#newcomers.delete(name)
    }
  }

  clear(): void {
    this.#seconds.clear()
    this.#newcomers.clear()
  }
}
