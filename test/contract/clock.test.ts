/**
 * The machine's clock is set an hour forward or back while work is in progress: nothing gets stuck
 * or lost.
 */

import assert from 'node:assert/strict'
import test from 'node:test'
import { sweep } from '../../gateway/files/sweeper.ts'
import { WebhookSender } from '../../gateway/webhooks/sender.ts'
import { isoTime } from '../../shared/clock.ts'
import { createLogger } from '../../shared/telemetry/log.ts'
import { assertError } from '../support/gateway/assert-shape.ts'
import {
  API,
  complete,
  createFileBody,
  FILE_BYTES,
  startGateway,
  submit,
  submitted,
  uploadFile,
} from '../support/gateway/start-gateway.ts'

const HOUR_MS = 3_600_000
const JUMPS = [
  ['forward', HOUR_MS],
  ['back', -HOUR_MS],
] as const

for (const [direction, jumpMs] of JUMPS) {
  test(`1 a clock set ${direction} stops neither a request with its webhook nor a repeated submit`, async (t) => {
    const gateway = await startGateway(t)
    const { store, clock } = gateway
    const submission = {
      headers: { 'idempotency-key': 'once' },
      body: {
        input: { prompt: 'a bell', file_id: await uploadFile(gateway) },
        webhookUrl: 'https://hooks.example/',
      },
    }
    const first = await gateway.call('POST', `${API}/audio/separate`, submission)
    await gateway.publish()
    clock.set(jumpMs)
    const { request_id: requestId } = first.json()
    await gateway.event('started', requestId)
    assert.equal((await gateway.call('POST', `${API}/audio/separate`, submission)).body, first.body)
    await sweep(gateway.deps)
    clock.set(-2 * jumpMs)
    await complete(gateway, requestId)
    clock.set(jumpMs)
    const status = await gateway.call('GET', `${API}/requests/${requestId}/status`)
    assert.equal(status.json().status, 'COMPLETED')
    const result = (await gateway.call('GET', `${API}/requests/${requestId}/result`)).json()
    assert.equal((await gateway.call('GET', result.data.target.url)).statusCode, 200)
    const posted: string[] = []
    const sender = new WebhookSender({
      store,
      clock,
      log: createLogger('gateway', 'silent'),
      post: async (_url, { body }) => {
        posted.push(JSON.parse(String(body)).request_id)
        return { status: 200, retryAfter: undefined }
      },
      encryptionKeys: gateway.deps.config.encryptionKeys,
      attemptsMax: 8,
      hostAttemptsMax: 8,
    })
    clock.set(HOUR_MS) // webhooks wait until a time in the database, so one may come late, but not never
    await sender.startDue()
    await sender.idle()
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
  const ids = [await submitted(gateway)]
  gateway.clock.advance(1)
  ids.push(await submitted(gateway))
  const position = async (id = '') =>
    (await gateway.call('GET', `${API}/requests/${id}/status`)).json().queue_position
  assert.equal(await position(ids[1]), 2)
  gateway.clock.set(-HOUR_MS)
  gateway.clock.advance(1_000)
  await gateway.event('started', ids[0]!)
  assert.equal(await position(ids[1]), 1)
})

test('1.3 a job that is backing off when the clock is set back waits no longer than the maximum', async (t) => {
  const gateway = await startGateway(t)
  const requestId = await submitted(gateway)
  await gateway.event('started', requestId)
  await gateway.event('released', requestId, { cause: 'interruption' })
  await gateway.publish()
  assert.equal(gateway.broker.published, 1, 'it rests')
  gateway.clock.set(-HOUR_MS)
  await gateway.publish()
  assert.equal(gateway.broker.published, 2)
})

test('1.1 an upload address that a clock jump expired is refused, and valid again once it is right', async (t) => {
  const gateway = await startGateway(t)
  const created = await gateway.call('POST', '/v1/files', { body: createFileBody() })
  const { upload_url: url } = created.json()
  gateway.clock.set(HOUR_MS + 1)
  assertError(await gateway.call('PUT', url, { body: FILE_BYTES }), 'FILE_EXPIRED')
  await uploadFile(gateway) // a new file works
  gateway.clock.set(-HOUR_MS)
  assert.equal((await gateway.call('PUT', url, { body: FILE_BYTES })).statusCode, 200)
})

test('1.2 a submitted file stays available to its engine, whichever way the clock was set', async (t) => {
  const gateway = await startGateway(t)
  const { request_id: requestId } = (await submit(gateway)).json()
  gateway.clock.set(25 * HOUR_MS) // longer than files live
  await sweep(gateway.deps)
  await gateway.publish()
  const { source } = gateway.broker.jobOf(requestId)
  assert.equal((await gateway.call('GET', source.url)).statusCode, 200)
})

test('3 an attempt whose clock was ahead does not block later attempts', async (t) => {
  const gateway = await startGateway(t)
  const requestId = await submitted(gateway)
  const ahead = isoTime(gateway.clock.now() + HOUR_MS)
  await gateway.event('started', requestId, { attempt_id: 'first', started_at: ahead })
  await gateway.event('failed', requestId, { attempt_id: 'second' }) // from an engine whose clock is right
  const { status, attempts } = await gateway.store
    .selectFrom('requests')
    .select(['status', 'attempts'])
    .executeTakeFirstOrThrow()
  assert.deepEqual([status, attempts], ['FAILED', 2])
})
