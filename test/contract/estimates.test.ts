/** `estimated_seconds_left` (docs/decisions/api.md). */

import assert from 'node:assert/strict'
import test from 'node:test'
import { startSeparationClient } from '../support/clients/separation-client.ts'
import { type Gateway, startGateway } from '../support/gateway/start-gateway.ts'

const AUDIO_URL = { audio_url: 'https://media.example/x.wav' }

const announce = ({ engineRegistry }: Gateway) =>
  engineRegistry.announced({ engine_id: 'engine-1', control_address: '127.0.0.1:1' })

/** Reads the status after a second, the maximum age of an estimate. */
async function leftOf(gateway: Gateway, requestId: string): Promise<number | undefined> {
  gateway.clock.advance(1_000)
  announce(gateway)
  return (await gateway.statusOf(requestId)).estimated_seconds_left
}

/** Completes a request with 20 s of media in 10 s. */
async function finishOne(gateway: Gateway): Promise<void> {
  const requestId = await gateway.submitted(AUDIO_URL)
  await gateway.event('started', requestId)
  gateway.clock.advance(10_000)
  await gateway.event('completed', requestId, { duration: 20 })
}

const progressed = (gateway: Gateway, requestId: string, progress: number, more = {}) =>
  gateway.feed.progressed({
    request_id: requestId,
    attempt_id: 'attempt-1',
    at: new Date(gateway.clock.now()).toISOString(),
    progress,
    ...more,
  })

test('there is no estimate while nothing is known, nor for finished requests', async (t) => {
  const gateway = await startGateway(t)
  const requestId = await gateway.submitted(AUDIO_URL)
  assert.equal(await leftOf(gateway, requestId), undefined)
  await gateway.event('started', requestId)
  assert.equal(await leftOf(gateway, requestId), undefined)
  await gateway.event('completed', requestId)
  assert.equal(await leftOf(gateway, requestId), undefined)
})

test("before any request has completed, a request's own pace counts, from a tenth of it on", async (t) => {
  const gateway = await startGateway(t)
  const requestId = await gateway.submitted(AUDIO_URL)
  await gateway.event('started', requestId)
  gateway.clock.advance(9_000)
  progressed(gateway, requestId, 0.05)
  assert.equal(await leftOf(gateway, requestId), undefined)
  progressed(gateway, requestId, 0.25)
  assert.equal(await leftOf(gateway, requestId), 33) // the first quarter took 11 s
})

test('work ahead counts, by the length of media and the speed of recent requests', async (t) => {
  const gateway = await startGateway(t)
  await finishOne(gateway) // 2 s of media per second
  const running = await gateway.submitted(AUDIO_URL)
  await gateway.event('started', running)
  await gateway.event('measured', running, { duration: 100 })
  const next = await gateway.submitted(AUDIO_URL)
  gateway.clock.advance(1) // so that the queue has a definite order
  const last = await gateway.submitted({ ...AUDIO_URL, prompts: ['vocals', 'drums'] })
  assert.equal(await leftOf(gateway, running), 50)
  assert.equal(await leftOf(gateway, next), 60) // its length is unknown, so it counts as long as the last request: 20 s
  assert.equal(await leftOf(gateway, last), 78) // the second prompt does not double the work
  progressed(gateway, running, 0.5)
  assert.equal(await leftOf(gateway, running), 25)
  assert.equal(await leftOf(gateway, last), 53)
})

test('a request takes at least as long as its engine says, and so do those behind it', async (t) => {
  const gateway = await startGateway(t)
  const first = await gateway.submitted(AUDIO_URL)
  await gateway.event('started', first)
  gateway.clock.advance(9_000)
  progressed(gateway, first, 0.5, { seconds_at_least: 30.2 })
  assert.equal(await leftOf(gateway, first), 31, 'not the 10 s of its own pace')
  await gateway.event('completed', first, { duration: 20 })
  const running = await gateway.submitted(AUDIO_URL)
  await gateway.event('started', running)
  await gateway.event('measured', running, { duration: 20 })
  const next = await gateway.submitted(AUDIO_URL)
  progressed(gateway, running, 0.99, { seconds_at_least: 15 })
  assert.equal(await leftOf(gateway, running), 15)
  assert.equal(await leftOf(gateway, next), 25)
  progressed(gateway, running, 0.99)
  assert.equal(await leftOf(gateway, running), 1)
  assert.equal(await leftOf(gateway, next), 11)
})

test('more candidates and quality mean more work', async (t) => {
  const gateway = await startGateway(t)
  await finishOne(gateway)
  const requestId = await gateway.submitted({ ...AUDIO_URL, reranking_candidates: 4 })
  await gateway.event('started', requestId)
  await gateway.event('measured', requestId, { duration: 20 })
  assert.equal(await leftOf(gateway, requestId), 40)
})

test('without an engine there is no telling when a request starts', async (t) => {
  const gateway = await startGateway(t)
  await finishOne(gateway)
  const requestId = await gateway.submitted(AUDIO_URL)
  const { call } = await startSeparationClient(t, gateway)
  assert.equal(await leftOf(gateway, requestId), 10)
  const separation = await call('Get', { request_id: requestId })
  assert.equal(separation.estimated_seconds_left, 10, 'over gRPC, too')
  gateway.clock.advance(16_000)
  assert.equal('estimated_seconds_left' in (await gateway.statusOf(requestId)), false)
})

test('a batch request is behind the interactive ones that wait', async (t) => {
  const gateway = await startGateway(t)
  await finishOne(gateway)
  const batch = await gateway.submitted(AUDIO_URL, { priority: 'batch' })
  const alone = await leftOf(gateway, batch)
  const urgent = await gateway.submitted(AUDIO_URL)
  const ahead = await leftOf(gateway, urgent)
  const behind = await leftOf(gateway, batch)
  assert.deepEqual([alone, ahead, behind], [10, 10, 20])
  const place = async (id: string) => (await gateway.statusOf(id)).queue_position
  assert.deepEqual([await place(urgent), await place(batch)], [1, 2])
})
