/** Caches values by name and keeps those used last. */
export class LruCache<T> {
  readonly #sizeMax: number
  readonly #forget: (value: T, name: string) => void
  /** In order of use, the least recent first. */
  readonly #remembered = new Map<string, T>()

  /**
   * @param sizeMax how many values are kept
   * @param forget is called with each value that is dropped, to free it
   */
  constructor(sizeMax: number, forget: (value: T, name: string) => void = () => {}) {
    this.#sizeMax = sizeMax
    this.#forget = forget
  }

  /** Returns the cached value, or caches and returns the result of `make`. */
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
