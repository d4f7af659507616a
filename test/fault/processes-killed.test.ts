/** Processes die at the worst moment: every accepted request still ends once, with the right status. */

import assert from 'node:assert/strict'
import { readdir, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { assertClose } from '../support/basics/assert-close.ts'
import { noise } from '../support/media/signals.ts'
import { readWav24, wavBytes } from '../support/media/wav.ts'
import {
  downloadResult,
  followToEnd,
  keepingBusy,
  separateFile,
  startWinnow,
  submitFile,
  type Winnow,
} from '../support/processes/start-winnow.ts'

async function longFile({ folder }: Winnow, seconds: number, sampleRate = 8_000): Promise<string> {
  const path = join(folder, 'long.wav')
  await writeFile(path, wavBytes([noise(seconds, sampleRate)], sampleRate))
  return path
}

/** Kills the engine at each start of the request, and starts another, until the request fails. */
async function killEngineAtEachStart(
  winnow: Winnow,
  { request_id: requestId }: { request_id: string },
) {
  const attempts = new Set<string>()
  for (;;) {
    const events = winnow.gateway
      .log()
      .split('\n')
      .filter((line) => line.includes(requestId))
      .flatMap((line) => (/^{.*}$/.test(line) ? [JSON.parse(line)] : [])) // the last may not be whole yet
    const started = events
      .filter(({ event }) => event === 'started')
      .map(({ attemptId }) => attemptId)
    if (started.some((attempt) => !attempts.has(attempt))) {
      await winnow.engines.at(-1)?.end('SIGKILL')
      for (const attempt of started) attempts.add(attempt)
      await winnow.startEngine()
    }
    const { status } = await winnow.client.status(requestId)
    if (status === 'FAILED') return attempts.size
    assert.notEqual(status, 'COMPLETED', 'no engine was killed in time')
    await sleep(20)
  }
}

test('only the job that kills every engine is lost; those in flight beside it complete', async (t) => {
  const winnow = await startWinnow(t)
  const path = await longFile(winnow, 10)
  const innocent = []
  for (let i = 0; i < 2; i += 1) innocent.push(await submitFile(winnow, path, keepingBusy(1)))
  const poison = await submitFile(winnow, path, keepingBusy(8))
  assert.equal(await killEngineAtEachStart(winnow, poison), 6)
  assert.equal((await followToEnd(winnow, poison)).at(-1)?.error?.code, 'ENGINE_LOST')
  for (const each of innocent)
    assert.equal((await followToEnd(winnow, each)).at(-1)?.status, 'COMPLETED')
})

/** Returns the size in bytes of all checkpoints that the gateway stores. */
async function checkpointBytes({ folder }: Winnow): Promise<number> {
  const media = join(folder, 'media', 'outputs')
  const entries = await readdir(media, { recursive: true, withFileTypes: true }).catch(() => [])
  const segments = entries.filter((entry) => entry.isFile() && /checkpoint/.test(entry.parentPath))
  const files = await Promise.all(
    segments.map(({ parentPath, name }) => stat(join(parentPath, name))),
  )
  return files.reduce((sum, { size }) => sum + size, 0)
}

test('a long job resumes from its checkpoint after a kill and after a drain, with the same result', async (t) => {
  const winnow = await startWinnow(t, { env: { CHECKPOINT_SECONDS: '1', DRAIN_SECONDS: '0' } })
  const path = await longFile(winnow, 150, 36_000) // with as many bytes as long media has
  const submitted = await submitFile(winnow, path, keepingBusy(2))
  let [keptBytes, ends, isQueuedAgain] = [0, 0, false]
  const logs = new Set<string>()
  for await (const status of winnow.client.follow(submitted, { logs: true })) {
    for (const { message } of status.logs ?? []) logs.add(message)
    isQueuedAgain ||= ends === 2 && status.status === 'IN_QUEUE'
    const bytes = await checkpointBytes(winnow)
    if (status.status !== 'IN_PROGRESS' || ends === 2 || bytes <= keptBytes) continue
    keptBytes = bytes
    const end = await winnow.engines.at(-1)!.end(ends === 0 ? 'SIGKILL' : 'SIGTERM')
    assert.equal(end, ends === 0 ? 'SIGKILL' : 0)
    ends += 1
    await winnow.startEngine()
  }
  assert.ok(isQueuedAgain, 'the engine that stopped released it')
  const resumed = [...logs].flatMap((line) => /^Resumed at (\d+) %/.exec(line)?.[1] ?? [])
  const [first, second] = resumed.map(Number)
  assert.ok(first! > 0 && second! > first!, `resumed at ${resumed}`)
  const resumedResult = await downloadResult(winnow, submitted)
  const again = await separateFile(winnow, path, keepingBusy(2))
  const expected = await downloadResult(winnow, again.submitted)
  for (const name of ['target', 'residual'] as const) {
    const [actual, other] = [resumedResult, expected].map(
      (each) => readWav24(each[name]).planes[0]!,
    )
    assertClose(actual!, other!, { absolute: 1e-5 })
  }
})
