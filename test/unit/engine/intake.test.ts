import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Intake } from '../../../engine/intake.ts'
import { JobStoppedError, type Outcome } from '../../../engine/job/outcome.ts'
import type { JobQueue, Lease } from '../../../shared/broker/broker.ts'
import { createLogger } from '../../../shared/telemetry/log.ts'
import type { Job } from '../../../shared/messages.ts'

/** A queue that records how each lease ended. */
function fakeQueue(requestIds: string[], deliveries: Record<string, number> = {}) {
  const ended: string[] = []
  const waiting = [...requestIds]
  const beats = { count: 0 }
  const lease = (requestId: string): Lease => ({
    job: { request_id: requestId } as Job,
    attemptId: `attempt-${requestId}`,
    deliveries: deliveries[requestId] ?? 1,
    heartbeat: () => void (beats.count += 1),
    ack: async () => void ended.push(`ack ${requestId}`),
    nak: (delayMs) => void ended.push(`nak ${requestId} ${delayMs}`),
  })
  const queues = { first: waiting, further: [], short: [], 'short-further': [], batch: [] }
  const others: Omit<Record<JobQueue, string[]>, 'first'> = queues
  const named: Record<string, string[]> = {}
  const leaseJob = async (_waitMs: number, queue: JobQueue = 'first', model?: string) => {
    await sleep(1)
    const next = (model === undefined ? queues[queue] : named[`${queue} ${model}`])?.shift()
    return next ? lease(next) : null
  }
  return { ended, waiting, ...others, named, beats, leaseJob }
}

type Serve = (requestId: string, signal: AbortSignal) => Promise<Outcome>

function startIntake(
  t: TestContext,
  queue: ReturnType<typeof fakeQueue>,
  jobsMax: number,
  serve: Serve,
  outage: () => Promise<void> | null = () => null,
  modelNames: readonly string[] = [],
) {
  const intake = new Intake({
    broker: queue,
    modelNames: () => modelNames,
    jobsMax,
    leaseSeconds: 30,
    jobSecondsMax: 60,
    outage,
    separate: ({ job }, signal) => serve(job.request_id, signal),
    log: createLogger('test', 'silent'),
  })
  intake.start()
  t.after(() => intake.drain(0))
  return intake
}

const until = async (isTrue: () => boolean) => {
  while (!isTrue()) await sleep(1)
}

const untilStopped: Serve = (_requestId, signal) =>
  new Promise((resolve) => {
    signal.addEventListener('abort', () =>
      resolve((signal.reason as JobStoppedError).because === 'canceled' ? 'failed' : 'released'),
    )
    if (signal.aborted) resolve('released')
  })

test('a lease ends according to the outcome of its job', async (t) => {
  const queue = fakeQueue(['completed', 'failed', 'released', 'interrupted'])
  startIntake(t, queue, 16, async (outcome) => outcome as Outcome)
  await until(() => queue.ended.length === 4)
  assert.deepEqual(queue.ended.sort(), [
    'ack completed',
    'ack failed',
    'ack released',
    'nak interrupted 5000',
  ])
})

test('no more jobs are leased than there is room for', async (t) => {
  const queue = fakeQueue([])
  queue.short.push('1', '2', '3')
  const intake = startIntake(t, queue, 2, untilStopped)
  await until(() => intake.jobs === 2)
  await sleep(10)
  assert.deepEqual(queue.short, ['3'])
  assert.equal(intake.state, 'BUSY')
  intake.cancel('1')
  await until(() => queue.short.length === 0)
})

test('a canceled job ends as failed; one that is not in progress is not found', async (t) => {
  const queue = fakeQueue(['x'])
  const intake = startIntake(t, queue, 1, untilStopped)
  await until(() => intake.jobs === 1)
  assert.equal(intake.cancel('y'), false)
  assert.equal(intake.cancel('x'), true)
  await until(() => queue.ended.length === 1)
  assert.deepEqual(queue.ended, ['ack x'])
})

test('a drain leases no more jobs, lets them finish, and then releases those that did not', async (t) => {
  const queue = fakeQueue(['slow', 'quick'])
  const intake = startIntake(t, queue, 16, async (requestId, signal) =>
    requestId === 'quick' ? sleep(20, 'completed' as const) : untilStopped(requestId, signal),
  )
  await until(() => intake.jobs === 2)
  assert.deepEqual(await intake.drain(100), { finished: 1, released: 1 })
  assert.deepEqual(queue.ended, ['ack quick', 'ack slow'])
  assert.equal(intake.state, 'DRAINING')
})

test('a job that arrives during a drain is released as drained, by its events', async (t) => {
  const queue = fakeQueue([])
  let arrive!: () => void
  const asked = new Promise<void>((onAsked) => {
    const { leaseJob } = queue
    queue.leaseJob = async (waitMs, name) =>
      name !== 'first'
        ? null
        : new Promise((resolve) => {
            arrive = () => {
              queue.waiting.push('late')
              void leaseJob(waitMs).then(resolve)
            }
            onAsked()
          })
  })
  const causes: unknown[] = []
  const intake = startIntake(t, queue, 16, async (_requestId, { reason }) => {
    causes.push((reason as JobStoppedError).because)
    return 'released'
  })
  await asked
  const drained = intake.drain(60_000)
  arrive()
  assert.deepEqual(await drained, { finished: 0, released: 1 })
  assert.deepEqual([causes, queue.ended], [['drained'], ['ack late']])
})

test('a job redelivered while it is in progress continues, without using up a delivery', async (t) => {
  const queue = fakeQueue(['x', 'x'])
  let starts = 0
  const intake = startIntake(t, queue, 16, (requestId, signal) => {
    starts += 1
    return untilStopped(requestId, signal)
  })
  await until(() => queue.beats.count === 1)
  assert.deepEqual(queue.ended, [])
  assert.equal(starts, 1)
  assert.equal(intake.jobs, 1)
})

/** Serves jobs until a test ends each by hand; tells which are in progress. */
function serveByHand() {
  const underWay = new Map<string, (outcome: Outcome) => void>()
  const serve: Serve = (requestId, signal) =>
    new Promise((resolve) => {
      const end = (outcome: Outcome) => {
        underWay.delete(requestId)
        resolve(outcome)
      }
      underWay.set(requestId, end)
      signal.addEventListener('abort', () => end('released'))
      if (signal.aborted) end('released')
    })
  return {
    serve,
    names: () => [...underWay.keys()],
    end: (name: string) => underWay.get(name)!('completed'),
  }
}

test('from its third delivery on a job runs alone: jobs in progress end first, and no more are leased', async (t) => {
  const queue = fakeQueue(['a', 'b', 'suspect', 'c'], { b: 2, suspect: 3 })
  const hand = serveByHand()
  const intake = startIntake(t, queue, 16, hand.serve)
  await until(() => intake.jobs === 3)
  assert.deepEqual([hand.names(), intake.state], [['a', 'b'], 'BUSY'])
  hand.end('a')
  await until(() => queue.ended.length === 1)
  assert.deepEqual([hand.names(), queue.waiting], [['b'], ['c']])
  hand.end('b')
  await until(() => hand.names().length === 1)
  assert.deepEqual([hand.names(), queue.waiting], [['suspect'], ['c']])
  hand.end('suspect')
  await until(() => hand.names().includes('c'))
  assert.deepEqual([queue.ended, intake.state], [['ack a', 'ack b', 'ack suspect'], 'READY'])
})

test('a job that waits to run alone can be canceled, or released by a drain, like any other', async (t) => {
  for (const stop of ['cancel', 'drain'] as const) {
    const queue = fakeQueue(['a', 'suspect'], { suspect: 5 })
    const hand = serveByHand()
    const intake = startIntake(t, queue, 16, hand.serve)
    await until(() => intake.jobs === 2)
    assert.deepEqual(hand.names(), ['a'])
    if (stop === 'cancel') assert.equal(intake.cancel('suspect'), true)
    else assert.deepEqual(await intake.drain(0), { finished: 0, released: 2 })
    await until(() => queue.ended.includes('ack suspect'))
  }
})

test('no job is leased during an outage, and all are after it', async (t) => {
  const queue = fakeQueue(['1', '2'])
  let end: () => void = () => undefined
  let outage: Promise<void> | null = new Promise((resolve) => {
    end = () => {
      outage = null
      resolve()
    }
  })
  const complete = async () => 'completed' as const
  const intake = startIntake(t, queue, 16, complete, () => outage)
  assert.equal(intake.state, 'PAUSED')
  await sleep(20)
  assert.deepEqual(queue.waiting, ['1', '2'])
  end()
  await until(() => queue.ended.length === 2)
  assert.equal(intake.state, 'READY')
})

test('a drain does not wait for the end of an outage', async (t) => {
  const forever = new Promise<void>(() => undefined)
  const intake = startIntake(t, fakeQueue(['x']), 16, untilStopped, () => forever)
  assert.deepEqual(await intake.drain(0), { finished: 0, released: 0 })
})

test("long jobs get half of the slots, an account's further ones half of those, and short ones the rest", async (t) => {
  const queue = fakeQueue(["another's 1", "another's 2", "another's 3", "another's 4", 'a ninth'])
  queue.further.push(...[1, 2, 3, 4, 5].map((i) => `mine ${i}`))
  const intake = startIntake(t, queue, 16, untilStopped)
  await until(() => intake.jobs === 8)
  await sleep(20)
  assert.deepEqual([queue.further, queue.waiting, intake.state], [['mine 5'], ['a ninth'], 'READY'])
  queue['short-further'].push(...[1, 2, 3, 4, 5].map((i) => `short ${i}`))
  await until(() => intake.jobs === 12)
  await sleep(20)
  assert.deepEqual(queue['short-further'], ['short 5'], 'a quarter is left')
  queue.short.push('the only short one of an account')
  await until(() => queue.short.length === 0)
  intake.cancel('mine 3')
  await until(() => queue.further.length === 0)
  intake.cancel("another's 1")
  await until(() => queue.waiting.length === 0)
  intake.cancel('short 1')
  await until(() => queue['short-further'].length === 0)
})

test('batch jobs get an eighth of the slots, and leave the rest to interactive ones', async (t) => {
  const queue = fakeQueue([])
  queue.batch.push(...[1, 2, 3].map((i) => `batch ${i}`))
  const intake = startIntake(t, queue, 16, untilStopped)
  await until(() => intake.jobs === 2)
  await sleep(20)
  assert.deepEqual([queue.batch, intake.state], [['batch 3'], 'READY'])
  queue.further.push('further 1', 'further 2')
  await until(() => queue.further.length === 0)
  intake.cancel('batch 1')
  await until(() => queue.batch.length === 0)
})

test('no queue waits forever for another: with room for one job they take turns', async (t) => {
  const queue = fakeQueue(['a', 'b', 'c'])
  queue.further.push('A', 'B', 'C')
  const served: string[] = []
  startIntake(t, queue, 1, async (requestId) => {
    served.push(requestId)
    return 'completed'
  })
  await until(() => served.length === 6)
  assert.deepEqual(served, ['a', 'A', 'b', 'B', 'c', 'C'])
})

test('a job that must run alone lets one that is arriving from another queue end first', async (t) => {
  const queue = fakeQueue(['suspect'], { suspect: 3 })
  let arrive!: (lease: Lease | null) => void
  const { leaseJob } = queue
  queue.leaseJob = async (waitMs, name) =>
    name === 'further'
      ? new Promise((resolve) => {
          arrive = resolve
        })
      : leaseJob(waitMs)
  const hand = serveByHand()
  const intake = startIntake(t, queue, 16, hand.serve)
  await until(() => intake.jobs === 1)
  await sleep(5)
  assert.deepEqual(hand.names(), [])
  queue.waiting.push('other')
  arrive(await leaseJob(1))
  await until(() => hand.names().length === 1)
  assert.deepEqual([hand.names(), intake.jobs], [['other'], 2])
  hand.end('other')
  await until(() => hand.names().length === 1)
  assert.deepEqual(hand.names(), ['suspect'])
  hand.end('suspect')
  await until(() => intake.jobs === 0)
  queue.leaseJob = leaseJob
  arrive(null)
})

test('of jobs that name a model, those for the models here are leased', async (t) => {
  const queue = fakeQueue(['any'])
  queue.named['first mini'] = ['m1']
  queue.named['further htdemucs'] = ['h1']
  queue.named['first sam-audio'] = ['s1']
  startIntake(t, queue, 16, async () => 'completed', undefined, ['htdemucs', 'mini'])
  await until(() => queue.ended.length === 3)
  assert.deepEqual(queue.ended.sort(), ['ack any', 'ack h1', 'ack m1'])
  assert.deepEqual(queue.named['first sam-audio'], ['s1'])
})

test('jobs that name a model get slots even if others wait, and wait if there are none', async (t) => {
  const queue = fakeQueue(Array.from({ length: 200 }, (_, i) => `a${i}`))
  queue.named['first mini'] = ['m1']
  const served: string[] = []
  const serve: Serve = async (requestId) => {
    served.push(requestId)
    await sleep(1)
    return 'completed'
  }
  startIntake(t, queue, 1, serve, undefined, ['mini'])
  await until(() => queue.ended.includes('ack m1'))
  assert.ok(served.length < 100, `after ${served.length} others`)
})
