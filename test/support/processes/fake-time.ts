/** A clock for real processes that a test sets: Debian's libfaketime, preloaded. */

import { existsSync, writeFileSync } from 'node:fs'

const LIBRARY = '/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1'

export interface FakeTime {
  /** For the processes that are to have the clock. */
  environment: Readonly<Record<string, string>>
  /** Moves it forward, or back. Timers go on as before. */
  jump(ms: number): void
}

/** Why no process can have such a clock; null where it can. */
export const whyNoFakeTime = (): string | null =>
  existsSync(LIBRARY) ? null : 'there is no libfaketime: apt-get install libfaketime'

/** @param file tells the processes how far their clock is ahead; they read it once a second */
export function createFakeTime(file: string): FakeTime {
  let aheadMs = 0
  const write = () => writeFileSync(file, `${aheadMs < 0 ? '' : '+'}${aheadMs / 1_000}\n`)
  write()
  return {
    environment: {
      LD_PRELOAD: LIBRARY,
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_DONT_FAKE_MONOTONIC: '1', // else timers would fire at once
      FAKETIME_CACHE_DURATION: '1',
    },
    jump(ms) {
      aheadMs += ms
      write()
    },
  }
}
