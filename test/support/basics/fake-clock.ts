import type { Clock } from '../../../shared/clock.ts'

/** A clock that changes only by `advance` and `set`. */
export class FakeClock implements Clock {
  #now = Date.parse('2026-01-02T03:04:05.678Z')
  #elapsed = 0

  now(): number {
    return this.#now
  }

  elapsed(): number {
    return this.#elapsed
  }

  /** Time passes. */
  advance(ms: number): void {
    this.#now += ms
    this.#elapsed += ms
  }

  /** The machine's clock is set `ms` forward, or back: no time passes. */
  set(ms: number): void {
    this.#now += ms
  }
}
