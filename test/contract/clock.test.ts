/**
 * The machine's clock is set an hour forward or back while work is in progress: nothing gets stuck
 * or lost.
 */

import assert from 'node:assert/strict'
import test from 'node:test'
import { sweep } from '../../gateway/files/sweeper.ts'
import { isoTime } from '../../shared/clock.ts'
import { assertError } from '../support/gateway/assert-shape.ts'
import { API, startGateway } from '../support/gateway/start-gateway.ts'
import { webhookSender } from '../support/gateway/webhook-sender.ts'

const HOUR_MS = 3_600_000
const JUMPS = [
  ['forward', HOUR_MS],
  ['back', -HOUR_MS],
] as const

for (const [direction, jumpMs] of JUMPS) {
  test(`1 a clock set ${direction} stops neither a request with its webhook nor a repeated submit`, async (t) => {
    const gateway = await startGateway(t)
    const { clock } = gateway
    const file_id = await gateway.uploadFile()
    const repeat = () =>
      gateway.submit(
        { file_id },
        { webhookUrl: 'https://hooks.example/' },
        { 'idempotency-key': 'once' },
      )
    const first = await repeat()
    await gateway.publish()
    clock.set(jumpMs)
    const { request_id: requestId } = first.json()
    await gateway.event('started', requestId)
    assert.equal((await repeat()).body, first.body)
    await sweep(gateway.deps)
    clock.set(-2 * jumpMs)
    await gateway.complete(requestId)
    clock.set(jumpMs)
    assert.equal((await gateway.statusOf(requestId)).status, 'COMPLETED')
    const { data } = (await gateway.getResult(requestId)).json()
    assert.equal((await gateway.call('GET', data.target.url)).statusCode, 200)
    const posted: string[] = []
    const post = async (_url: string, { body }: { body: Buffer }) => {
      posted.push(JSON.parse(body.toString()).request_id)
      return { status: 200, retryAfter: undefined }
    }
    clock.set(HOUR_MS) // webhooks wait until a time in the database, so one may come late, but not never
    await webhookSender(gateway, { post }).send()
    assert.deepEqual(posted, [requestId])
  })

  test(`8 a rate limit still lasts a minute when the clock is set ${direction}`, async (t) => {
    const gateway = await startGateway(t, { rateLimitPerMinute: 1 })
    const call = () => gateway.call('GET', `${API}/requests/req_1/status`)
    assertError(await call(), 'NOT_FOUND')
    assertError(await call(), 'RATE_LIMITED')
    gateway.clock.set(jumpMs)
    gateway.clock.advance(60_000)
    assertError(await call(), 'NOT_FOUND')
  })

  test(`extension: a clock set ${direction} hides no live engine, and keeps no dead one`, async (t) => {
    const gateway = await startGateway(t)
    gateway.engineRegistry.announced({ engine_id: 'engine-1', control_address: '127.0.0.1:1' })
    gateway.clock.set(jumpMs)
    assert.equal(gateway.engineRegistry.engines, 1)
    gateway.clock.advance(15_001)
    assert.equal(gateway.engineRegistry.engines, 0)
  })
}

test('extension: /readyz checks again although the clock was set back', async (t) => {
  const gateway = await startGateway(t)
  assert.equal((await gateway.call('GET', '/readyz')).json().database, true)
  gateway.clock.set(-HOUR_MS)
  gateway.clock.advance(1_000)
  await gateway.store.schema.dropTable('write_probe').execute()
  assert.equal((await gateway.call('GET', '/readyz')).json().database, false)
})

test('7 the position in the queue changes although the clock was set back', async (t) => {
  const gateway = await startGateway(t)
  const ids = [await gateway.submitted()]
  gateway.clock.advance(1)
  ids.push(await gateway.submitted())
  const position = async (id = '') => (await gateway.statusOf(id)).queue_position
  assert.equal(await position(ids[1]), 2)
  gateway.clock.set(-HOUR_MS)
  gateway.clock.advance(1_000)
  await gateway.event('started', ids[0]!)
  assert.equal(await position(ids[1]), 1)
})

test('1.3 a job that is backing off when the clock is set back waits no longer than the maximum', async (t) => {
  const gateway = await startGateway(t)
  const requestId = await gateway.submitted()
  await gateway.event('started', requestId)
  await gateway.event('released', requestId, { cause: 'interruption' })
  await gateway.publish()
  assert.equal(gateway.broker.published, 1, 'it rests')
  gateway.clock.set(-HOUR_MS)
  await gateway.publish()
  assert.equal(gateway.broker.published, 2)
})

test('3 an attempt whose clock was ahead does not block later attempts', async (t) => {
  const gateway = await startGateway(t)
  const requestId = await gateway.submitted()
  const ahead = isoTime(gateway.clock.now() + HOUR_MS)
  await gateway.event('started', requestId, { attempt_id: 'first', started_at: ahead })
  await gateway.event('failed', requestId, { attempt_id: 'second' }) // from an engine whose clock is right
  const [row] = await gateway.rows('requests')
  assert.deepEqual([row?.status, row?.attempts], ['FAILED', 2])
})
