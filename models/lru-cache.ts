/** Remembers values made by name: the latest used ones. */
export class LruCache<T> {
  readonly #sizeMax: number
  readonly #forget: (value: T, name: string) => void
  /** From the least to the most recently used. */
  readonly #remembered = new Map<string, T>()

  /**
   * @param sizeMax how many are remembered
   * @param forget frees one that no longer is, where it must be freed
   */
  constructor(sizeMax: number, forget: (value: T, name: string) => void = () => {}) {
    this.#sizeMax = sizeMax
    this.#forget = forget
  }

  /** Gives the remembered value, or that of `make`. */
  get(name: string, make: () => T): T {
    const value = this.#remembered.get(name) ?? make()
    this.#remembered.delete(name)
    this.#remembered.set(name, value)
    if (this.#remembered.size > this.#sizeMax) this.#forgetOldest()
    return value
  }

  #forgetOldest(): void {
    const [oldest] = this.#remembered
    if (!oldest) return
    const [name, value] = oldest
    this.#remembered.delete(name)
    this.#forget(value, name)
  }
}
