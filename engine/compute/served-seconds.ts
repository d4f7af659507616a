/** Counts how many seconds of the device each class, account or request has had. */

/**
 * How far below the others a newcomer starts; it goes first until it has had as much. This lets a
 * short request finish before the next turn of a long one, even though the tagger's part and the
 * model's part are counted one after the other. The others wait at most this long for it.
 */
const NEWCOMER_SECONDS = 0.5

export class ServedSeconds<Name extends string = string> {
  readonly #seconds = new Map<Name, number>()
  /** What the others had had when a name joined. */
  readonly #levels = new Map<Name, number>()

  get seconds(): ReadonlyMap<Name, number> {
    return this.#seconds
  }

  /**
   * Adds a name. It starts slightly below the minimum of the others, or with its earlier count if
   * that is higher, so that neither idling nor coming often earns anything. In that minimum, a name
   * that has not caught up yet counts as if it had.
   * @param open the names with open lanes, which keep their counts
   */
  join(name: Name, open: readonly Name[]): void {
    if (open.includes(name)) return
    const counts = open.map((other) =>
      Math.max(this.#seconds.get(other) ?? 0, this.#levels.get(other) ?? 0),
    )
    const level = counts.length > 0 ? Math.min(...counts) : 0
    this.#levels.set(name, level)
    const least = level - NEWCOMER_SECONDS
    this.#seconds.set(name, Math.max(this.#seconds.get(name) ?? least, least))
  }

  add(name: Name, seconds: number): void {
    this.#seconds.set(name, (this.#seconds.get(name) ?? 0) + seconds)
  }

  /** Forgets all names but `open` once there are more than `namesMax`. */
  prune(open: ReadonlySet<Name>, namesMax: number): void {
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
