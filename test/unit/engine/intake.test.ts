import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Intake } from '../../../engine/intake.ts'
import { JobStopped, type Outcome } from '../../../engine/separate-job.ts'
import type { Lease } from '../../../shared/broker.ts'
import { createLogger } from '../../../shared/log.ts'
import type { Job } from '../../../shared/messages.ts'
import { DEFAULT_OPTIONS } from '../../../shared/separation-options.ts'

const job = (requestId: string): Job => ({
  request_id: requestId, account_id: 'a', created_at: '', prompt: 'x', options: DEFAULT_OPTIONS,
  source: { kind: 'file', url: '', file_name: '' },
  upload_urls: { target: '', residual: '', target_video: '', residual_video: '' },
})

/** A queue that says what became of each lease. */
function fakeQueue(requestIds: string[]) {
  const ended: string[] = []
  const waiting = [...requestIds]
  const lease = (requestId: string): Lease => ({
    job: job(requestId), attemptId: `attempt-${requestId}`, deliveries: 1,
    heartbeat: () => undefined,
    ack: async () => void ended.push(`ack ${requestId}`),
    nak: (delayMs) => void ended.push(`nak ${requestId} ${delayMs}`),
  })
  const leaseJob = async () => {
    await sleep(1)
    const next = waiting.shift()
    return next ? lease(next) : null
  }
  return { ended, waiting, leaseJob }
}

type Serve = (requestId: string, signal: AbortSignal) => Promise<Outcome>

function startIntake(t: TestContext, queue: ReturnType<typeof fakeQueue>, jobsMax: number, serve: Serve) {
  const intake = new Intake({
    broker: queue, jobsMax, leaseSeconds: 30, jobSecondsMax: 60,
    separate: ({ request_id }, _attemptId, signal) => serve(request_id, signal),
    log: createLogger('test', 'silent'),
  })
  intake.start()
  t.after(() => intake.drain(0))
  return intake
}

const until = async (isTrue: () => boolean) => { while (!isTrue()) await sleep(1) }

const untilStopped: Serve = (_requestId, signal) => new Promise((resolve) => {
  signal.addEventListener('abort', () =>
    resolve((signal.reason as JobStopped).because === 'canceled' ? 'failed' : 'interrupted'))
})

test('a lease ends by the outcome of its job', async (t) => {
  const queue = fakeQueue(['completed', 'failed', 'interrupted'])
  startIntake(t, queue, 8, async (outcome) => outcome as Outcome)
  await until(() => queue.ended.length === 3)
  assert.deepEqual(queue.ended.sort(), ['ack completed', 'ack failed', 'nak interrupted 5000'])
})

test('no more jobs are taken than there is room for', async (t) => {
  const queue = fakeQueue(['1', '2', '3'])
  const intake = startIntake(t, queue, 2, untilStopped)
  await until(() => intake.jobs === 2)
  await sleep(10)
  assert.deepEqual(queue.waiting, ['3'])
  assert.equal(intake.state, 'BUSY')
  intake.cancel('1')
  await until(() => queue.waiting.length === 0)
})

test('a canceled job ends as failed; one that is not in hand is not found', async (t) => {
  const queue = fakeQueue(['x'])
  const intake = startIntake(t, queue, 1, untilStopped)
  await until(() => intake.jobs === 1)
  assert.equal(intake.cancel('y'), false)
  assert.equal(intake.cancel('x'), true)
  await until(() => queue.ended.length === 1)
  assert.deepEqual(queue.ended, ['ack x'])
})

test('a drain takes no more, lets jobs finish, and gives back at once those that do not', async (t) => {
  const queue = fakeQueue(['slow', 'quick'])
  const intake = startIntake(t, queue, 8, async (requestId, signal) =>
    requestId === 'quick' ? sleep(20, 'completed' as const) : untilStopped(requestId, signal))
  await until(() => intake.jobs === 2)
  assert.deepEqual(await intake.drain(100), { finished: 1, released: 1 })
  assert.deepEqual(queue.ended, ['ack quick', 'nak slow 0'])
  assert.equal(intake.state, 'DRAINING')
})

test('a job delivered again while it is in hand is put off, not begun twice', async (t) => {
  const queue = fakeQueue(['x', 'x'])
  let begun = 0
  const intake = startIntake(t, queue, 8, (requestId, signal) => {
    begun += 1
    return untilStopped(requestId, signal)
  })
  await until(() => queue.ended.length === 1)
  assert.deepEqual(queue.ended, ['nak x 30000'])
  assert.equal(begun, 1)
  assert.equal(intake.jobs, 1)
})
