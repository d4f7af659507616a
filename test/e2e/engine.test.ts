/** An engine as an admin sees it: its control plane, its log, and how it behaves in an outage. */

import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'node:test'
import { connectEngine, type EngineStats } from '../../shared/engine-control.ts'
import { noise } from '../support/media/signals.ts'
import { wavBytes } from '../support/media/wav.ts'
import {
  followToEnd,
  startWinnow,
  submitFile,
  type Winnow,
} from '../support/processes/start-winnow.ts'

delete process.env.TF_CPP_MIN_LOG_LEVEL // engines would inherit it

/** Resolves with the first statistics of the engine that match. */
function statsOf(
  { engines }: Winnow,
  isMatch: (stats: EngineStats) => boolean,
): Promise<EngineStats> {
  const engine = connectEngine(engines[0]?.ready.control ?? '')
  return new Promise((resolve) => {
    const stop = engine.watchStats(100, (stats) => {
      if (!isMatch(stats)) return
      stop()
      engine.close()
      resolve(stats)
    })
  })
}

test('an outage of the media store costs neither finished work nor an attempt', async (t) => {
  const winnow = await startWinnow(t)
  const path = join(winnow.folder, 'noise.wav')
  await writeFile(path, wavBytes([noise(30, 8_000)], 8_000))
  const submitted = await submitFile(winnow, path, { prompt: 'noise' })
  await statsOf(winnow, ({ lanes }) => lanes > 0)
  await winnow.gateway.end('SIGKILL')
  await statsOf(winnow, ({ state }) => state === 'PAUSED')
  await winnow.startGateway()
  const statuses = await followToEnd(winnow, submitted)
  assert.equal(statuses.at(-1)?.status, 'COMPLETED')
  const started =
    statuses.at(-1)?.logs?.filter(({ message }) => message.startsWith('Decoding')) ?? []
  assert.equal(started.length, 1)
  await statsOf(winnow, ({ state }) => state === 'READY')
})

test('an engine logs nothing from the native library, and applies a changed batch budget', async (t) => {
  const winnow = await startWinnow(t, { env: { BATCH_FRAMES_MAX: '2048' } })
  const engine = connectEngine(winnow.engines[0]?.ready.control ?? '')
  t.after(() => engine.close())
  assert.equal((await engine.describe()).batch_frames_max, 2_048)
  assert.equal(await engine.setBatching(512), 512)
  assert.equal((await engine.describe()).batch_frames_max, 512)
  assert.equal((await statsOf(winnow, () => true)).batch_frames_max, 512)
  assert.doesNotMatch(winnow.engines[0]?.log() ?? '', /cpu_feature_guard/)
})
