/** The broker against a real nats-server: what gateway and engine rely on. */

import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { startNatsServer } from '../../scripts/nats-server.ts'
import { connectBroker } from '../../shared/broker.ts'
import { createLogger } from '../../shared/log.ts'
import type { Event, Job } from '../../shared/messages.ts'
import { DEFAULT_OPTIONS } from '../../shared/separation-options.ts'

const log = createLogger('test', 'silent')

const job = (requestId: string): Job => ({
  request_id: requestId, account_id: 'a', created_at: '', prompt: 'x', options: DEFAULT_OPTIONS,
  source: { kind: 'file', url: '', file_name: '' },
  upload_urls: { target: '', residual: '', target_video: '', residual_video: '' },
})

const event = (attemptId: string, type: 'started' | 'released' = 'started'): Event =>
  ({ type, request_id: 'r', attempt_id: attemptId, engine_id: 'e', at: '', logs: [], cause: 'drain' })

async function start(t: TestContext, leaseSeconds = 30) {
  const folder = await mkdtemp(join(tmpdir(), 'winnow-nats-'))
  const server = await startNatsServer({ folder })
  const broker = await connectBroker({ url: server.url, name: 'test', leaseSeconds, log })
  t.after(async () => {
    await broker.close()
    server.process.kill('SIGKILL')
    await rm(folder, { recursive: true, force: true, maxRetries: 5 })
  })
  return broker
}

/** Resolves with the first `count` values that `follow` hands over. */
function collect<T>(count: number) {
  const got: T[] = []
  let done: (values: T[]) => void
  const all = new Promise<T[]>((resolve) => { done = resolve })
  return { all, take: (value: T) => { if (got.push(value) === count) done(got) } }
}

test('a job is stored once however often it is published, leased once, and gone after its ack', async (t) => {
  const broker = await start(t)
  const sequence = await broker.publishJob(job('r1'), 'r1')
  assert.equal(await broker.publishJob(job('r1'), 'r1'), sequence)
  const lease = await broker.leaseJob(2_000)
  assert.equal(lease?.job.request_id, 'r1')
  assert.equal(await broker.leaseJob(1_000), null)
  await lease?.ack()
  assert.equal(await broker.hasJob(sequence), false)
})

test('a lease without heartbeats lapses, and the job is delivered again', async (t) => {
  const broker = await start(t, 1)
  await broker.publishJob(job('r1'), 'r1')
  const first = await broker.leaseJob(2_000)
  const second = await broker.leaseJob(10_000)
  assert.deepEqual([first?.deliveries, second?.deliveries], [1, 2])
  assert.notEqual(first?.attemptId, second?.attemptId)
})

test('heartbeats hold a lease past its time', async (t) => {
  const broker = await start(t, 1)
  await broker.publishJob(job('r1'), 'r1')
  const lease = await broker.leaseJob(2_000)
  const beat = setInterval(() => lease?.heartbeat(), 200)
  t.after(() => clearInterval(beat))
  assert.equal(await broker.leaseJob(3_000), null)
})

test('a removed job is never leased; removing one that is gone says so', async (t) => {
  const broker = await start(t)
  const sequence = await broker.publishJob(job('r1'), 'r1')
  assert.equal(await broker.removeJob(sequence), true)
  assert.equal(await broker.removeJob(sequence), false)
  assert.equal(await broker.leaseJob(1_000), null)
})

test('a job given back too often is reported as exhausted, and leaves the queue', async (t) => {
  const broker = await start(t)
  const exhausted = collect<{ requestId: string; sequence: number }>(1)
  const stop = await broker.followExhaustedJobs(async (each) => exhausted.take(each))
  t.after(stop)
  const sequence = await broker.publishJob(job('r1'), 'r1')
  for (let deliveries = 1; deliveries <= 6; deliveries += 1) {
    const lease = await broker.leaseJob(5_000)
    assert.equal(lease?.deliveries, deliveries)
    lease?.nak(0)
  }
  assert.equal(await broker.leaseJob(1_000), null)
  assert.deepEqual(await exhausted.all, [{ requestId: 'r1', sequence }])
  while (await broker.hasJob(sequence)) await new Promise(setImmediate)
})

test('events arrive once and in order; one whose handling fails comes again', async (t) => {
  const broker = await start(t)
  const events = collect<string>(4)
  let failures = 1
  const stop = await broker.followEvents(async ({ attempt_id: attemptId, type }) => {
    events.take(`${attemptId} ${type}`)
    if (attemptId === 'a2' && failures-- > 0) throw new Error('the database is locked')
  })
  t.after(stop)
  for (const each of [event('a1'), event('a1'), event('a1', 'released'), event('a2')]) {
    await broker.publishEvent(each)
  }
  assert.deepEqual(await events.all, ['a1 started', 'a1 released', 'a2 started', 'a2 started'])
})

test('progress and hellos reach whoever listens', async (t) => {
  const broker = await start(t)
  const heard = collect<unknown>(2)
  t.after(broker.followProgress(heard.take))
  t.after(broker.followHellos(heard.take))
  const progress = { request_id: 'r', attempt_id: 'a', at: '', progress: 0.5 }
  const hello = { engine_id: 'e', control_address: '127.0.0.1:1' }
  broker.publishProgress(progress)
  broker.publishHello(hello)
  assert.deepEqual(await heard.all, [progress, hello])
})
