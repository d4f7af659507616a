import type { Clock } from '../../../shared/clock.ts'

/** A clock that only moves by `advance` and `set`. */
export class FakeClock implements Clock {
  #now = Date.parse('2026-01-02T03:04:05.678Z')
  #elapsed = 0

  now(): number {
    return this.#now
  }

  elapsed(): number {
    return this.#elapsed
  }

  /** Lets time pass. */
  advance(ms: number): void {
    this.#now += ms
    this.#elapsed += ms
  }

  /** Sets the wall clock forward or back without letting time pass. */
  set(ms: number): void {
    this.#now += ms
  }
}
