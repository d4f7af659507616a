/** The time as a dependency: tests pass a fake clock. */
export interface Clock {
  /** Milliseconds since the epoch. It jumps whenever the machine's clock is set. */
  now(): number
  /** Milliseconds since some moment. It never jumps: for the length of waits in this process. */
  elapsed(): number
}

export const systemClock: Clock = { now: () => Date.now(), elapsed: () => performance.now() }

/** Epoch milliseconds as the API and the database write times. */
export const isoTime = (ms: number): string => new Date(ms).toISOString()
