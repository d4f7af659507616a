/** Gives real processes a clock that a test controls, by preloading Debian's libfaketime. */

import { existsSync, writeFileSync } from 'node:fs'

const LIBRARY = '/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1'

export interface FakeTime {
  /** Environment of the processes that use the clock. */
  environment: Readonly<Record<string, string>>
  /** Moves the clock forward or back, without affecting timers. */
  jump(ms: number): void
}

/** Returns why the clock can't be faked; null if it can. */
export const whyNoFakeTime = (): string | null =>
  existsSync(LIBRARY) ? null : 'there is no libfaketime: apt-get install libfaketime'

/** @param file holds the clock's offset, which processes read once a second */
export function createFakeTime(file: string): FakeTime {
  let aheadMs = 0
  const write = () => writeFileSync(file, `${aheadMs < 0 ? '' : '+'}${aheadMs / 1_000}\n`)
  write()
  return {
    environment: {
      LD_PRELOAD: LIBRARY,
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_DONT_FAKE_MONOTONIC: '1', // otherwise timers would fire immediately
      FAKETIME_CACHE_DURATION: '1',
    },
    jump(ms) {
      aheadMs += ms
      write()
    },
  }
}
