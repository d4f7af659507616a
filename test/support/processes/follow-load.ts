/** Reads what the process of `steady-load.ts` prints. */

import assert from 'node:assert/strict'
import type { ChildProcess } from 'node:child_process'
import { createInterface } from 'node:readline'
import type { LoadReport } from './steady-load.ts'

export interface Load {
  /** Resolves when so many more requests have been accepted. */
  submitMore(count: number): Promise<void>
  /** Ends it, and resolves when each of its requests has ended. */
  finish(): Promise<LoadReport>
}

/** Resolves when the process has begun. */
export async function followLoad({ stdin, stdout }: ChildProcess): Promise<Load> {
  const lines = createInterface(stdout!)[Symbol.asyncIterator]()
  const next = async () => String((await lines.next()).value)
  assert.equal(await next(), 'started')
  return {
    async submitMore(count) {
      for (let lines = 0; lines < count; lines += 1) assert.equal(await next(), 'submitted')
    },
    async finish() {
      stdin!.end()
      for (;;) {
        const line = await next()
        if (line !== 'submitted') return JSON.parse(line) as LoadReport
      }
    },
  }
}
