/** Runs out of device memory with the real scheduler, compute thread and model. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { BatchBudget } from '../../../../engine/compute/batch-budget.ts'
import { LaneTooLargeError } from '../../../../engine/compute/compute-errors.ts'
import { ComputeThread } from '../../../../engine/compute/compute-thread.ts'
import { Scheduler } from '../../../../engine/compute/scheduler.ts'
import { createLogger } from '../../../../shared/telemetry/log.ts'
import { TEXT_ENCODER_FOLDER } from '../../../support/models/golden.ts'
import { laneRequest, noise } from '../../../support/models/lanes.ts'

const log = createLogger('test', 'silent')
const OPTIONS = {
  models: [{ kind: 'mini', name: 'mini' }],
  textEncoderFolder: TEXT_ENCODER_FOLDER,
  precision: 'float32',
  batchFramesMax: 'auto',
  computeSecondsMax: 600,
} as const
const SHORT = new URL('../../../support/engine/short-of-memory-worker.ts', import.meta.url)

/** @param channels of a second of noise; its seed differs for each lane */
async function separate(scheduler: Scheduler, lane: number, channels = 1) {
  const waves = Array.from({ length: channels }, (_, i) => noise(32_000, 10 * lane + i + 1))
  const request = laneRequest({ channels: waves, sampleRate: 32_000 }, 'rain')
  const { chunk: _, ...head } = request
  const [result] = await scheduler.separate(
    { model: 'mini', request, heads: [head] },
    { accountId: 'a', requestId: `${lane}` },
    { signal: new AbortController().signal, onStep: () => undefined },
  )
  return result!
}

test('a lane that does not fit alone fails, but the others in its batch do not', async (t) => {
  const thread = await ComputeThread.start(OPTIONS, log, SHORT)
  t.after(() => thread.stop())
  let shortages = 0
  const scheduler = new Scheduler(thread, new Map([['mini', new BatchBudget(400, log)]]), {
    outOfMemory: () => void (shortages += 1),
  })
  await separate(scheduler, 1)
  const { memoryBytes } = thread.held
  const results = await Promise.allSettled([
    separate(scheduler, 2),
    separate(scheduler, 3, 2), // stereo
    separate(scheduler, 4),
  ])
  assert.deepEqual(
    results.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled'],
  )
  assert.ok((results[1] as PromiseRejectedResult).reason instanceof LaneTooLargeError)
  assert.ok(shortages >= 1)
  await thread.beat()
  const growth = thread.held.memoryBytes - memoryBytes
  assert.ok(growth < 2 ** 20, `${growth} bytes are held after what failed`)
})
