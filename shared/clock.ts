/** The time as a dependency: tests pass a fake clock. */
export interface Clock {
  /** Milliseconds since the epoch. Jumps when the machine's clock is set. */
  now(): number
  /**
   * Milliseconds since some fixed moment. Never jumps, so use it to measure waits in this process.
   */
  elapsed(): number
}

export const systemClock: Clock = { now: () => Date.now(), elapsed: () => performance.now() }

/** Formats epoch milliseconds as the API and the database do. */
export const isoTime = (ms: number): string => new Date(ms).toISOString()

/** Returns the day, in UTC, of a time that `isoTime` has formatted, such as `2026-01-31`. */
export const dayOfTime = (time: string): string => time.slice(0, '2026-01-31'.length)
