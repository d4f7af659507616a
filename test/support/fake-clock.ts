import type { Clock } from '../../shared/clock.ts'

/** A clock that changes only by `advance`. */
export class FakeClock implements Clock {
  #now = Date.parse('2026-01-02T03:04:05.678Z')

  now(): number {
    return this.#now
  }

  advance(ms: number): void {
    this.#now += ms
  }
}
