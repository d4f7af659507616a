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
