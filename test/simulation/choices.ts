/**
 * Makes every choice of a simulated run: a pure function of the seed, the place, and how often that
 * place has been passed. Leaving out one fault therefore shifts no other.
 */

/** The probability of each kind of fault, wherever it can happen. */
export type Rates = Readonly<Record<string, number>>

export class Choices {
  /** Names of the faults that have happened, in order. */
  readonly faults: string[] = []
  readonly #seed: number
  readonly #only: ReadonlySet<string> | null
  readonly #places = new Map<string, { hash: number; passed: number }>()
  #rates: Rates

  /** @param only allows only faults with these names; null: the rates alone decide */
  constructor(seed: number, rates: Rates, only: ReadonlySet<string> | null) {
    this.#seed = seed
    this.#rates = rates
    this.#only = only
  }

  /** Stops all faults from now on. */
  calm(): void {
    this.#rates = {}
  }

  /** Returns a number from 0 up to 1. */
  random(place: string): number {
    return this.#next(place).value
  }

  between(place: string, least: number, most: number): number {
    return least + (most - least) * this.random(place)
  }

  pick<T>(place: string, items: readonly T[]): T {
    return items[Math.floor(this.random(place) * items.length)]!
  }

  /** Returns which of these faults happens at a place this time, or undefined for none. */
  fault<Kind extends string>(place: string, kinds: readonly Kind[]): Kind | undefined {
    const { value, passed } = this.#next(place)
    let sum = 0
    for (const kind of kinds) {
      sum += this.#rates[kind] ?? 0
      if (value >= sum) continue
      return this.happens(`${place} #${passed} ${kind}`) ? kind : undefined
    }
    return undefined
  }

  /** Records a fault that is due; returns false if `only` leaves it out. */
  happens(name: string): boolean {
    if (this.#only !== null && !this.#only.has(name)) return false
    this.faults.push(name)
    return true
  }

  #next(name: string): { value: number; passed: number } {
    let place = this.#places.get(name)
    if (!place) {
      place = { hash: hashOf(name, this.#seed), passed: 0 }
      this.#places.set(name, place)
    }
    place.passed += 1
    return { value: mix(place.hash, place.passed) / 2 ** 32, passed: place.passed }
  }
}

/** Returns the 32-bit FNV-1a hash of a text. */
export function hashOf(text: string, seed = 0): number {
  let hash = (0x811c9dc5 ^ seed) >>> 0
  for (let i = 0; i < text.length; i += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193) >>> 0
  }
  return hash
}

/** Mixes two numbers into 32 pseudo-random bits (the finalizer of MurmurHash3, by Austin Appleby). */
export function mix(a: number, b: number): number {
  let hash = (a ^ Math.imul(b, 0x9e3779b1)) >>> 0
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}
