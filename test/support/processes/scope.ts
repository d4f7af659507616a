/** Lets scripts use helpers that clean up after a test. */

export interface Scope {
  after(end: () => unknown): void
  /** Runs all clean-ups, the latest first. */
  end(): Promise<void>
}

export function createScope(): Scope {
  const endings: (() => unknown)[] = []
  return {
    after: (end) => void endings.push(end),
    async end() {
      for (let end = endings.pop(); end; end = endings.pop()) await end()
    },
  }
}
