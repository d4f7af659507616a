/** The time as a dependency: tests pass a fake clock. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number
}

export const systemClock: Clock = { now: () => Date.now() }

/** Epoch milliseconds as the API and the database write times. */
export const isoTime = (ms: number): string => new Date(ms).toISOString()
