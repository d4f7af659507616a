/** Runs `steady-load.ts` as a process, and reads its output. */

import assert from 'node:assert/strict'
import { spawn, type ChildProcess } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { TestContext } from 'node:test'
import { programArguments } from '../../../shared/process/programs.ts'
import { noise } from '../media/signals.ts'
import { wavBytes } from '../media/wav.ts'
import { API_KEY } from './start-winnow.ts'
import type { LoadReport } from './steady-load.ts'

export interface Load {
  /** Resolves once `count` more requests have been accepted. */
  submitMore(count: number): Promise<void>
  /** Stops submitting, and resolves once all requests have ended. */
  finish(): Promise<LoadReport>
}

const PROGRAM = new URL('steady-load.ts', import.meta.url)

/**
 * Submits 8 requests a second to a service, from a process that ends with the test.
 * @param folder for the media
 */
export async function startLoad(
  t: TestContext,
  url: string,
  folder: string,
  env: NodeJS.ProcessEnv = {},
): Promise<Load> {
  const path = join(folder, 'short.wav')
  await writeFile(path, wavBytes([noise(0.2, 8_000)], 8_000))
  const child = spawn(process.execPath, [...programArguments(PROGRAM), url, API_KEY, path], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, ...env },
  })
  t.after(() => child.kill('SIGKILL'))
  return followLoad(child)
}

/** Resolves when the process has started. */
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
