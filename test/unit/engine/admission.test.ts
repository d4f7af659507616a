/** Admission and scheduling together: the real policies, with a device that only counts batches. */

import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { BatchBudget } from '../../../engine/compute/batch-budget.ts'
import { Scheduler } from '../../../engine/compute/scheduler.ts'
import type { ChunkOrder } from '../../../engine/compute/compute-messages.ts'
import { Intake } from '../../../engine/intake.ts'
import { parseJobsMax } from '../../../engine/jobs-max.ts'
import type { Outcome } from '../../../engine/job/outcome.ts'
import type { HeadResult } from '../../../models/model.ts'
import type { JobQueue, Lease } from '../../../shared/broker/broker.ts'
import type { Job } from '../../../shared/messages.ts'
import { createLogger } from '../../../shared/telemetry/log.ts'

const log = createLogger('test', 'silent')
const GIBIBYTE = 2 ** 30
const FRAMES_PER_SECOND = 31.25
const CHUNK_SECONDS = 10
const CHUNKS_IN_FLIGHT = 2

/** Runs one batch at a time and opens lanes between batches, like the compute thread. */
class CountingDevice {
  batches = 0
  #lanes = 0
  #last: Promise<unknown> = Promise.resolve()

  async prepare(order: ChunkOrder): Promise<ChunkOrder> {
    return order
  }

  open({ request }: ChunkOrder) {
    const frames = request.chunk.channels[0]!.length
    const lane = { lane: ++this.#lanes, heads: [0], rows: 1, frames, steps: 1 }
    return this.#inOrder(() => [lane])
  }

  step(): Promise<void> {
    return this.#inOrder(() => void (this.batches += 1))
  }

  async close(): Promise<HeadResult[]> {
    return [{ target: [], score: 0 }]
  }

  async discard(): Promise<void> {}

  #inOrder<T>(work: () => T): Promise<T> {
    const done = this.#last.then(() => turn()).then(work)
    this.#last = done
    return done
  }
}

interface SubmittedJob {
  requestId: string
  accountId: string
  seconds: number
  queue: JobQueue
}

/** Starts an engine on a machine with this much memory. */
function startEngine(t: TestContext, memoryBytes: number) {
  const device = new CountingDevice()
  const budgets = new Map([['test', new BatchBudget(1_024, log, 320)]])
  const scheduler = new Scheduler(device, budgets)
  const waiting: SubmittedJob[] = []
  const running = new Set<string>()
  const batchesAtEnd = new Map<string, number>()
  const secondsOf = new Map<string, number>()

  const separate = async ({ job }: Lease, signal: AbortSignal): Promise<Outcome> => {
    const { request_id: requestId, account_id: accountId } = job
    running.add(requestId)
    const seconds = secondsOf.get(requestId)!
    const chunk = async (length: number) => {
      const wave = new Float32Array(Math.ceil(length * FRAMES_PER_SECOND))
      const request = { chunk: { channels: [wave], sampleRate: 1 }, spans: [] }
      const order = { model: 'test', request: { ...request, acceleration: 'fast' as const } }
      const heads = [{ prompt: '', seed: 0 }]
      const options = { signal, onStep: () => undefined }
      await scheduler.separate({ ...order, heads }, { requestId, accountId }, options)
    }
    const inFlight: Promise<void>[] = []
    try {
      for (let at = 0; at < seconds; at += CHUNK_SECONDS) {
        inFlight.push(chunk(Math.min(CHUNK_SECONDS, seconds - at)))
        if (inFlight.length === CHUNKS_IN_FLIGHT) await inFlight.shift()
      }
      await Promise.all(inFlight)
    } catch {
      await Promise.allSettled(inFlight)
      return 'released'
    }
    running.delete(requestId)
    batchesAtEnd.set(requestId, device.batches)
    return 'completed'
  }
  const leaseJob = async (_waitMs: number, queue: JobQueue = 'first'): Promise<Lease | null> => {
    await turn()
    const at = waiting.findIndex((each) => each.queue === queue)
    const [leased] = at < 0 ? [] : waiting.splice(at, 1)
    if (!leased) return null
    const job = { request_id: leased.requestId, account_id: leased.accountId } as Job
    const actions = { heartbeat: () => undefined, ack: async () => undefined, nak: () => undefined }
    return { job, attemptId: leased.requestId, deliveries: 1, ...actions }
  }
  const intake = new Intake({
    broker: { leaseJob },
    modelNames: () => [],
    jobsMax: parseJobsMax('auto', memoryBytes),
    leaseSeconds: 30,
    jobSecondsMax: 3_600,
    outage: () => null,
    separate,
    log,
  })
  intake.start()
  t.after(() => intake.drain(0))
  return {
    running,
    submit(submitted: SubmittedJob) {
      secondsOf.set(submitted.requestId, submitted.seconds)
      waiting.push(submitted)
    },
    /** Resolves once `jobs` jobs are in progress and each has had some batches. */
    async underWay(jobs: number): Promise<void> {
      while (running.size < jobs) await turn()
      for (const from = device.batches; device.batches < from + 3 * jobs;) await turn()
    },
    /** Counts the batches from now until the request has ended. */
    async batchesUntilEnd(requestId: string): Promise<number> {
      const from = device.batches
      while (!batchesAtEnd.has(requestId)) await turn()
      return batchesAtEnd.get(requestId)! - from
    },
  }
}

const TWO_HOURS = 7_200
/**
 * The running batch, one while the job is leased and opened, its own, and those of one more short
 * job.
 */
const BATCHES_MAX = 6

for (const gibibytes of [2, 16]) {
  test(`a short job next to five two-hour jobs is done at once, with ${gibibytes} GiB of memory`, async (t) => {
    const engine = startEngine(t, gibibytes * GIBIBYTE)
    for (let i = 0; i < 5; i += 1) {
      const queue = i === 0 ? 'first' : 'further'
      engine.submit({ requestId: `long ${i}`, accountId: 'mine', seconds: TWO_HOURS, queue })
    }
    await engine.underWay(gibibytes === 2 ? 2 : 5)
    for (const accountId of ['mine', 'another']) {
      engine.submit({ requestId: accountId, accountId, seconds: 4, queue: 'short' })
      const batches = await engine.batchesUntilEnd(accountId)
      assert.ok(batches <= BATCHES_MAX, `${accountId}: ${batches} batches`)
    }
  })
}

test('a ninth account is served next to two-hour jobs of eight others: a short job, and a long one', async (t) => {
  const engine = startEngine(t, 16 * GIBIBYTE)
  const long = { seconds: TWO_HOURS, queue: 'first' as const }
  for (let i = 1; i <= 8; i += 1) {
    engine.submit({ requestId: `long ${i}`, accountId: `account ${i}`, ...long })
  }
  await engine.underWay(8)
  engine.submit({ requestId: 'short', accountId: 'ninth', seconds: 4, queue: 'short' })
  const batches = await engine.batchesUntilEnd('short')
  assert.ok(batches <= BATCHES_MAX, `${batches} batches`)
  engine.submit({ requestId: 'long 9', accountId: 'ninth', ...long })
  await engine.underWay(9)
})
