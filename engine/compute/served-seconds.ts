/** How many seconds of the device each account, or each request, has had. */

/**
 * A newcomer starts so far below the others: it goes first until it has had as much. So a short
 * request is through before a long one's next turn, although the tagger's part and the model's are
 * counted one after the other; and the others wait at most so long for it.
 */
const NEWCOMER_SECONDS = 0.5

export class ServedSeconds {
  readonly #seconds = new Map<string, number>()
  /** The level of the others when a name joined. */
  readonly #levels = new Map<string, number>()

  /** By name. */
  get seconds(): ReadonlyMap<string, number> {
    return this.#seconds
  }

  /**
   * A name that is new, or returns, starts a little below the level of the others: the smallest of
   * their counts, where one that has not reached its own level yet counts as if it had. Who returns
   * keeps what it had beyond that: neither idling nor coming often earns more.
   * @param open the names with open lanes; one of them keeps its count
   */
  join(name: string, open: readonly string[]): void {
    if (open.includes(name)) return
    const counts = open.map((other) =>
      Math.max(this.#seconds.get(other) ?? 0, this.#levels.get(other) ?? 0),
    )
    const level = counts.length > 0 ? Math.min(...counts) : 0
    this.#levels.set(name, level)
    const least = level - NEWCOMER_SECONDS
    this.#seconds.set(name, Math.max(this.#seconds.get(name) ?? least, least))
  }

  add(name: string, seconds: number): void {
    this.#seconds.set(name, (this.#seconds.get(name) ?? 0) + seconds)
  }

  /** Forgets all but `open` once there are more names than `namesMax`. */
  prune(open: ReadonlySet<string>, namesMax: number): void {
    if (this.#seconds.size <= namesMax) return
    for (const name of this.#seconds.keys()) {
      if (open.has(name)) continue
      this.#seconds.delete(name)
      this.#levels.delete(name)
    }
  }

  clear(): void {
    this.#seconds.clear()
    this.#levels.clear()
  }
}
