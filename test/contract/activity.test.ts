/** The admin API other than accounts and keys: the last day, models, attempts, storage. */

import assert from 'node:assert/strict'
import test from 'node:test'
import { Activity } from '../../gateway/operations/activity.ts'
import {
  AdminChangeList,
  AdminDeliveryList,
  AdminRequest,
  AdminRequestList,
  AdminUsage,
} from '../../gateway/operations/all-accounts.ts'
import { Fleet } from '../../gateway/operations/fleet.ts'
import { insertAttempt } from '../../gateway/store/delivery-attempts.ts'
import { AccountUsageDays } from '../../gateway/accounts/usage-days.ts'
import { createAccount } from '../../gateway/accounts/accounts.ts'
import { addUse } from '../../gateway/store/usage.ts'
import { isoTime } from '../../shared/clock.ts'
import { HOUR_MS } from '../../shared/durations.ts'
import { type ControlledEngine, startControlServer } from '../../engine/control-server.ts'
import { connectEngine } from '../../shared/engine-control.ts'
import { ADMIN, admin, ADMIN_TOKEN } from '../support/gateway/admin.ts'
import { assertError, assertShape } from '../support/gateway/assert-shape.ts'
import { type Gateway, startGateway } from '../support/gateway/start-gateway.ts'

async function read(gateway: Gateway, path: 'activity' | 'fleet') {
  const { status, body } = await call(gateway, 'GET', path)
  assert.equal(status, 200, JSON.stringify(body))
  assertShape(path === 'fleet' ? Fleet : Activity, body)
  return body
}

async function call(gateway: Gateway, method: 'GET' | 'POST', path: string) {
  const reply = await admin(gateway, method, path)
  return { status: reply.statusCode, body: reply.json() }
}

const NOTHING = { completed: 0, failed: 0, canceled: 0, audio_seconds: 0, waiting_seconds: null }

test('extension: the last day is counted by hour, the same at every gateway', async (t) => {
  const gateway = await startGateway(t, ADMIN) // its clock starts at 03:04:05.678
  const { clock } = gateway
  const first = await gateway.submitted()
  const second = await gateway.submitted()
  const third = await gateway.submitted()
  clock.advance(10_000)
  await gateway.complete(first)
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

  await gateway.completed()
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
  await gateway.uploadFile()
  gateway.free.bytes = 9_001
  const { storage, models } = await read(gateway, 'fleet')
  assert.equal(storage.held_bytes, 8)
  assert.equal(storage.reserved_bytes, 0)
  assert.equal(storage.free_bytes, 9_001)
  assert.match(storage.place, /^the folder /)
  assert.deepEqual(models, [], 'no engine is there')

  const webhookUrl = 'https://hooks.example/in?token=1'
  const requestId = await gateway.completed({}, { webhookUrl })
  const [delivery] = await gateway.rows('deliveries')
  for (let i = 0; i < 12; i++) {
    await insertAttempt(gateway.store, {
      attempt_id: `attempt_${i}`,
      webhook_id: delivery!.webhook_id,
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
    endpoint_id: null,
    host: 'hooks.example',
    started_at: isoTime(gateway.clock.now() + 11),
    duration_ms: 5,
    status_code: 200,
    error: null,
  })
  assert.equal(attempts[1].error, 'no answer')
})

test('extension: an admin sees the requests of all accounts by page, and cancels one, once', async (t) => {
  const gateway = await startGateway(t, ADMIN)
  const ids = [await gateway.submitted()]
  for (let i = 0; i < 2; i += 1) {
    gateway.clock.advance(1_000)
    ids.unshift(await gateway.submitted())
  }
  const running = ids[2]!
  await gateway.event('started', running, { duration: 12.5, output_bytes: 100 })

  const first = await call(gateway, 'GET', 'requests?limit=2')
  assertShape(AdminRequestList, first.body)
  const next = await call(gateway, 'GET', `requests?limit=2&cursor=${first.body.next_cursor}`)
  const data = [...first.body.data, ...next.body.data]
  assert.deepEqual([data.map(({ request_id: id }) => id), next.body.next_cursor], [ids, null])
  const { status, account_id, prompts, duration, engine_id } = data[2]
  assert.deepEqual([status, duration], ['IN_PROGRESS', 12.5])
  assert.equal(prompts.length, 1)
  assert.ok(engine_id)
  const none = await call(gateway, 'GET', 'requests?account_id=acct_other')
  assert.deepEqual(none.body.data, [])
  assert.equal((await call(gateway, 'GET', 'requests?status=WRONG')).status, 400)

  const canceled = await call(gateway, 'POST', `requests/${running}/cancel`)
  assertShape(AdminRequest, canceled.body)
  assert.deepEqual([canceled.status, canceled.body.error_code], [200, 'CANCELED'])
  const again = await call(gateway, 'POST', `requests/${running}/cancel`)
  assert.deepEqual([again.status, again.body.error.code], [409, 'REQUEST_FINISHED'])
  assert.equal((await call(gateway, 'POST', 'requests/req_none/cancel')).status, 404)
  const failed = await call(gateway, 'GET', `requests?status=FAILED&account_id=${account_id}`)
  assert.deepEqual(
    failed.body.data.map(({ request_id: id }: { request_id: string }) => id),
    [running],
  )
  const { body: changes } = await call(gateway, 'GET', `changes?account_id=${account_id}&limit=1`)
  assertShape(AdminChangeList, changes)
  const { action, tool, details } = changes.data[0]
  assert.deepEqual([action, tool], ['request.cancel', 'admin_api'])
  assert.deepEqual(JSON.parse(details), { request_id: running })
  const { body: all } = await call(gateway, 'GET', 'changes?action=request.cancel')
  assert.equal(all.data.length, 1, 'the refused calls changed nothing')
  assert.deepEqual((await call(gateway, 'GET', 'changes?action=key.revoke')).body.data, [])
})

test('extension: an admin sees webhooks by page and state, and has one sent again', async (t) => {
  const gateway = await startGateway(t, ADMIN)
  const endpoint = await gateway.call('POST', '/v1/webhook-endpoints', {
    body: { url: 'https://other.example/in' },
  })
  const requestId = await gateway.submitted({}, { webhookUrl: 'https://hooks.example/in' })
  const early = await call(gateway, 'POST', `requests/${requestId}/redeliver`)
  assert.deepEqual([early.status, early.body.error.code], [409, 'RESULT_NOT_READY'])
  await gateway.complete(requestId)
  for (let i = 0; i < 2; i += 1) {
    gateway.clock.advance(1_000)
    await gateway.completed() // with a delivery to the endpoint alone
  }
  const change = {
    state: 'failed',
    next_attempt_at: null,
    attempts: 3,
    last_error: 'gone',
  } as const
  const oldest = gateway.store.updateTable('deliveries').where('request_id', '=', requestId)
  await oldest.set(change).execute()

  const pages = async (query: string) => {
    const first = await call(gateway, 'GET', `deliveries?limit=1${query}`)
    assertShape(AdminDeliveryList, first.body)
    const cursor: string = first.body.next_cursor
    const rest = await call(gateway, 'GET', `deliveries?cursor=${cursor}${query}`)
    assert.equal(rest.body.next_cursor, null)
    return [...first.body.data, ...rest.body.data]
  }
  const all = await pages('')
  assert.equal(all.length, 4)
  const times = all.map(({ created_at: at }) => at)
  assert.deepEqual(times, times.toSorted().reverse())
  const failed = await pages('&status=failed')
  assert.deepEqual(failed, all.slice(2), 'of all pages')
  const receivers = failed.map(({ host, endpoint_id: id }) => [host, id])
  assert.deepEqual(receivers.sort(), [
    ['hooks.example', null],
    ['other.example', endpoint.json().endpoint_id],
  ])
  for (const { request_id: id, delivery_status: status, attempts, last_error: error } of failed) {
    assert.deepEqual([id, status, attempts, error], [requestId, 'failed', 3, 'gone'])
  }
  assert.deepEqual(await pages('&status=pending'), all.slice(0, 2))
  const { status, body: refused } = await call(gateway, 'GET', 'deliveries?status=lost')
  assert.deepEqual([status, refused.error.code], [400, 'INVALID_PARAMETER'])
  assert.match(refused.error.message, /pending, sending, delivered, failed/)

  const sent = await call(gateway, 'POST', `requests/${requestId}/redeliver`)
  assert.deepEqual([sent.status, sent.body.delivery_status], [200, 'pending'], sent.body)
  const { body: left } = await call(gateway, 'GET', 'deliveries?status=failed')
  assert.deepEqual(
    left.data.map(({ host }: { host: string }) => host),
    ['other.example'],
  )
  const { body } = await call(gateway, 'GET', 'changes?limit=1')
  assert.equal(body.data[0].action, 'webhook.redeliver')
})

test('extension: use of each account, and what it stored in a day and still holds', async (t) => {
  const gateway = await startGateway(t, ADMIN)
  await gateway.uploadFile()
  await gateway.completed()
  const { body } = await call(gateway, 'GET', 'usage')
  assertShape(AdminUsage, body)
  const { body: fleet } = await call(gateway, 'GET', 'fleet')
  const own = body.data.find(({ completed }: { completed: number }) => completed > 0)
  assert.deepEqual([own.completed, own.failed], [1, 0])
  assert.equal(own.audio_seconds > 0, true)
  assert.equal(own.added_bytes, fleet.storage.held_bytes)
  assert.equal(own.media_bytes_max, gateway.deps.config.mediaBytesMaxPerAccount)
  gateway.clock.advance(2 * 24 * HOUR_MS)
  const { body: later } = await call(gateway, 'GET', 'usage')
  for (const { added_bytes: added } of later.data) assert.equal(added, 0, 'nothing since')
  assert.ok(later.expiring_bytes > 0, 'what has expired is not yet deleted')
})

test('extension: device seconds of each attempt are counted once, whatever is redelivered', async (t) => {
  const gateway = await startGateway(t, ADMIN)
  const [first, canceled] = [await gateway.submitted(), await gateway.submitted()]
  const interrupted = { attempt_id: 'attempt-0', device_seconds: 1.5 }
  await gateway.event('started', first, { attempt_id: 'attempt-0' })
  for (let i = 0; i < 2; i += 1) await gateway.event('released', first, interrupted)
  await gateway.complete(first, { device_seconds: 2.25 })
  await gateway.event('failed', first, { device_seconds: 2.25 })
  await gateway.event('released', first, interrupted)
  await gateway.event('started', canceled)
  await gateway.call('PUT', `/v1/queue/requests/${canceled}/cancel`)
  for (let i = 0; i < 2; i += 1) await gateway.event('failed', canceled, { device_seconds: 0.5 })

  const { body: days } = await call(gateway, 'GET', 'usage/days')
  assert.deepEqual(
    days.data.map((day: Record<string, number>) => [day.completed, day.failed, day.device_seconds]),
    [[1, 1, 4.25]],
  )
  const { body: all } = await call(gateway, 'GET', 'usage')
  assert.deepEqual(
    all.data.map(({ device_seconds: seconds }: { device_seconds: number }) => seconds),
    [4.25],
  )
  const own = await gateway.call('GET', '/v1/account/usage')
  assert.equal('device_seconds' in own.json().data[0], false, "the operator's figure")
})

const csvOf = async (gateway: Gateway, query: string, accept?: string) => {
  const authorization = `Bearer ${ADMIN_TOKEN}`
  const headers = { authorization, ...(accept !== undefined && { accept }) }
  const reply = await gateway.call('GET', `/admin/usage/days?${query}`, { headers })
  assert.equal(reply.statusCode, 200, reply.body)
  assert.equal(reply.headers['content-type'], 'text/csv; charset=utf-8')
  return reply.body
}

test('extension: use of all accounts by day comes in pages, and as CSV that runs no formula', async (t) => {
  const gateway = await startGateway(t, ADMIN)
  const author = { tool: 'admin_api', origin: '' } as const
  const names = ['=HYPERLINK("http://x","y")', 'Studio, "A"\n']
  const ids: string[] = []
  for (const name of names) {
    const { account_id } = await createAccount({ ...gateway.deps, author }, { name })
    ids.push(account_id)
    for (const day of ['2025-12-31', '2026-01-01', '2026-01-02']) {
      const use = { completed: 1, audio_seconds: 3, device_seconds: 0.1 + 0.2 }
      await addUse(gateway.store, { account_id, day, ...use })
    }
  }
  const range = 'from=2026-01-01&to=2026-01-02'
  const rows: string[] = []
  for (let cursor: string | null = ''; cursor !== null;) {
    const { body } = await call(gateway, 'GET', `usage/days?${range}&limit=3&cursor=${cursor}`)
    assertShape(AccountUsageDays, body)
    rows.push(
      ...body.data.map((row: { day: string; account_id: string }) => row.day + row.account_id),
    )
    cursor = body.next_cursor
  }
  const expected = ['2026-01-01', '2026-01-02'].flatMap((day) =>
    ids.toSorted().map((id) => day + id),
  )
  assert.deepEqual(rows, expected)

  const cells = { [ids[0]!]: `"'=HYPERLINK(""http://x"",""y"")"`, [ids[1]!]: `"Studio, ""A""\n"` }
  const lines = expected.map((key) => {
    const [day, id] = [key.slice(0, 10), key.slice(10)]
    return `${day},${id},${cells[id]},1,0,3,0.3`
  })
  const head = 'day,account_id,name,completed,failed,audio_seconds,device_seconds'
  const csv = [head, ...lines, ''].join('\r\n')
  assert.equal(await csvOf(gateway, `${range}&format=csv`), csv)
  assert.equal(await csvOf(gateway, range, 'text/csv'), csv)
  const own = await csvOf(gateway, `${range}&format=csv&account_id=${ids[1]}`)
  assert.equal(own.split('\r\n').length, 4)
  for (const wrong of ['format=xml', 'from=2024-01-01&format=csv', 'from=1', 'to=2026-02-30']) {
    const { status, body } = await call(gateway, 'GET', `usage/days?${wrong}`)
    assert.deepEqual([status, body.error.code], [400, 'INVALID_PARAMETER'], wrong)
  }
})

test('extension: models can not be changed while no engine answers', async (t) => {
  const gateway = await startGateway(t, ADMIN)
  for (const verb of ['fetch', 'load', 'unload']) {
    assertError(await admin(gateway, 'POST', `models/scnet/${verb}`, {}), 'SERVICE_UNAVAILABLE')
  }
  assertError(await admin(gateway, 'DELETE', 'models/scnet'), 'SERVICE_UNAVAILABLE')
})

test('extension: an engine is drained once it says so, not if it hangs', async (t) => {
  const gateway = await startGateway(t, { ...ADMIN, engine: connectEngine })
  const drain = async (engineId: string, state: 'READY' | 'DRAINING') => {
    const engine: Partial<ControlledEngine> = {
      describe: () => ({ engine_id: engineId }) as never,
      drain: () => new Promise(() => undefined),
      stats: () => ({ state }) as never,
    }
    const server = await startControlServer('127.0.0.1', 0, engine as ControlledEngine)
    t.after(() => server.stop())
    gateway.engineRegistry.announced({ engine_id: engineId, control_address: server.address })
    return admin(gateway, 'POST', `engines/${engineId}/drain`)
  }
  assertError(await drain('engine-1', 'READY'), 'SERVICE_UNAVAILABLE')
  assert.deepEqual((await drain('engine-2', 'DRAINING')).json(), {
    engine_id: 'engine-2',
    state: 'DRAINING',
  })
})
