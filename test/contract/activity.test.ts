/** Operators' pages besides accounts and keys: the last day, models, tries, storage. */

import assert from 'node:assert/strict'
import test from 'node:test'
import { Activity } from '../../gateway/operations/activity.ts'
import { Fleet } from '../../gateway/operations/fleet.ts'
import { insertAttempt } from '../../gateway/store/delivery-attempts.ts'
import { isoTime } from '../../shared/clock.ts'
import { HOUR_MS } from '../../shared/durations.ts'
import { assertShape } from '../support/gateway/assert-shape.ts'
import {
  complete,
  startGateway,
  submitted,
  uploadFile,
  type Gateway,
} from '../support/gateway/start-gateway.ts'

const TOKEN = 'the-admin-token-of-this-test'
const ADMIN = { config: { adminToken: TOKEN } }

async function read(gateway: Gateway, path: 'activity' | 'fleet') {
  const headers = { authorization: `Bearer ${TOKEN}` }
  const reply = await gateway.call('GET', `/admin/${path}`, { headers })
  assert.equal(reply.statusCode, 200, reply.body)
  assertShape(path === 'fleet' ? Fleet : Activity, reply.json())
  return reply.json()
}

const NOTHING = { completed: 0, failed: 0, canceled: 0, audio_seconds: 0, waiting_seconds: null }

test('extension: the last day is counted by hour, the same at every gateway', async (t) => {
  const gateway = await startGateway(t, ADMIN) // its clock starts at 03:04:05.678
  const { clock } = gateway
  const [first, second, third] = [
    await submitted(gateway),
    await submitted(gateway),
    await submitted(gateway),
  ]
  clock.advance(10_000)
  await complete(gateway, first)
  clock.advance(20_000)
  await gateway.event('started', second)
  await gateway.event('failed', second)
  clock.advance(HOUR_MS)
  await gateway.call('PUT', `/v1/queue/requests/${third}/cancel`)

  const { hours } = await read(gateway, 'activity')
  assert.equal(hours.length, 24)
  assert.equal(hours[0].start, '2026-01-01T05:00:00.000Z')
  const ended = { completed: 1, failed: 1, canceled: 0, audio_seconds: 12.5 }
  const { waiting_seconds: waiting, ...counted } = hours[22]
  assert.deepEqual(counted, { start: '2026-01-02T03:00:00.000Z', ...ended })
  assert.ok(Math.abs(waiting - 20) < 0.01, `${waiting} s`)
  assert.deepEqual(hours[23], { start: '2026-01-02T04:00:00.000Z', ...NOTHING, canceled: 1 })
  for (const { start, ...rest } of hours.slice(0, 22)) assert.deepEqual(rest, NOTHING, start)

  const other = await startGateway(t, { ...ADMIN, beside: gateway })
  assert.deepEqual(await read(other, 'activity'), await read(gateway, 'activity'))

  await complete(gateway, await submitted(gateway))
  clock.advance(29_999)
  assert.deepEqual((await read(gateway, 'activity')).hours, hours, 'it counts twice a minute')
  clock.advance(1)
  assert.equal((await read(gateway, 'activity')).hours[23].completed, 1)

  clock.advance(22 * HOUR_MS)
  const later = (await read(gateway, 'activity')).hours
  assert.deepEqual([later[0].completed, later[1].canceled], [1, 1])
  clock.advance(2 * HOUR_MS)
  for (const { start, ...rest } of (await read(gateway, 'activity')).hours) {
    assert.deepEqual(rest, NOTHING, start)
  }
})

test('extension: the fleet has storage, and the latest tries of webhooks', async (t) => {
  const gateway = await startGateway(t, ADMIN)
  assert.equal((await read(gateway, 'fleet')).storage.held_bytes, 0)
  await uploadFile(gateway)
  gateway.free.bytes = 9_001
  const { storage, models } = await read(gateway, 'fleet')
  assert.equal(storage.held_bytes, 8)
  assert.equal(storage.reserved_bytes, 0)
  assert.equal(storage.free_bytes, 9_001)
  assert.match(storage.place, /^the folder /)
  assert.deepEqual(models, [], 'no engine is there')

  const requestId = await submitted(gateway, {}, { webhookUrl: 'https://hooks.example/in?token=1' })
  await complete(gateway, requestId)
  const { webhook_id } = await gateway.store
    .selectFrom('deliveries')
    .select('webhook_id')
    .executeTakeFirstOrThrow()
  for (let i = 0; i < 12; i++) {
    await insertAttempt(gateway.store, {
      attempt_id: `attempt_${i}`,
      webhook_id,
      started_at: isoTime(gateway.clock.now() + i),
      duration_ms: 5,
      status_code: i === 11 ? 200 : null,
      error: i === 11 ? null : 'no answer',
    })
  }
  const { webhook_attempts: attempts } = await read(gateway, 'fleet')
  assert.equal(attempts.length, 10)
  assert.deepEqual(attempts[0], {
    request_id: requestId,
    host: 'hooks.example',
    started_at: isoTime(gateway.clock.now() + 11),
    duration_ms: 5,
    status_code: 200,
    error: null,
  })
  assert.equal(attempts[1].error, 'no answer')
})
