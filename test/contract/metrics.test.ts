/** `GET /metrics` on a port of its own: docs/decisions/api.md. */

import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { sql } from 'kysely'
import { Metrics } from '../../gateway/operations/metrics.ts'
import { createMetricsText } from '../../gateway/operations/state-metrics.ts'
import { startMetricsServer } from '../../shared/telemetry/metrics-server.ts'
import { startSeparationClient } from '../support/clients/separation-client.ts'
import { databaseKind } from '../support/database/test-database.ts'
import { API, type Gateway, startGateway } from '../support/gateway/start-gateway.ts'

async function startMetrics(t: TestContext, gateway: Gateway): Promise<string> {
  const server = await startMetricsServer('127.0.0.1', 0, {
    text: createMetricsText(gateway.deps),
    log: gateway.deps.log,
  })
  t.after(() => server.stop())
  return server.address
}

const LINE = /^([a-z_]+)(\{(?:[a-z_]+="(?:[^"\\\n]|\\.)*",?)+\})? (-?[\d.]+(?:e[+-]?\d+)?)$/

/**
 * Reads every value by its name with labels; asserts that each name is described once, before its
 * values.
 */
async function read(address: string): Promise<Map<string, number>> {
  const reply = await fetch(`${address}/metrics`)
  assert.equal(reply.status, 200)
  assert.match(reply.headers.get('content-type') ?? '', /^text\/plain; version=0\.0\.4/)
  const values = new Map<string, number>()
  const types = new Map<string, string>()
  for (const line of (await reply.text()).trimEnd().split('\n')) {
    const [, described, type] = /^# TYPE (\w+) (counter|gauge|histogram)$/.exec(line) ?? []
    if (described && type) {
      assert.equal(types.has(described), false, `${described} is described twice`)
      types.set(described, type)
    }
    if (line === '' || line.startsWith('#')) continue
    const [, name = '', labels = '', value] = LINE.exec(line) ?? assert.fail(`no metric: ${line}`)
    const family = types.get(name) ? name : name.replace(/_(bucket|sum|count)$/, '')
    assert.equal(types.has(family), true, `${name} is not described`)
    assert.equal(values.has(name + labels), false, `${name}${labels} comes twice`)
    values.set(name + labels, Number(value))
  }
  return values
}

test('extension: metrics count queued requests, outcomes, calls and webhooks to be sent', async (t) => {
  const gateway = await startGateway(t)
  const address = await startMetrics(t, gateway)
  const { call } = await startSeparationClient(t, gateway)
  const webhook = { webhookUrl: 'https://a.example/' }
  const [done, failed] = [await gateway.submitted(), await gateway.submitted()]
  const canceled = await gateway.submitted({}, webhook)
  gateway.clock.advance(7_000)
  const running = await gateway.submitted({}, webhook)
  await gateway.event('started', running)
  await gateway.complete(done)
  await gateway.event('started', failed)
  await gateway.event('failed', failed)
  await gateway.event('failed', failed) // delivered twice, counted once
  assert.equal((await read(address)).get('winnow_queue_oldest_seconds'), 7)
  await gateway.call('PUT', `${API}/requests/${canceled}/cancel`)
  await call('Get', { request_id: running })
  await gateway.call('GET', `${API}/requests/${running}/status`)
  await gateway.call('GET', '/nowhere')
  const watch = gateway.feed.watch(running, 'account')
  t.after(() => watch.close())
  gateway.engineRegistry.announced({ engine_id: 'engine-1', control_address: '127.0.0.1:1' })
  const values = await read(address)
  for (const [name, value] of [
    ['winnow_requests_submitted_total', 4],
    ['winnow_requests_finished_total{status="COMPLETED",code=""}', 1],
    ['winnow_requests_finished_total{status="FAILED",code="MODEL_FAILED"}', 1],
    ['winnow_requests_finished_total{status="FAILED",code="CANCELED"}', 1],
    ['winnow_audio_seconds_total', 12.5],
    ['winnow_requests{status="IN_QUEUE"}', 0],
    ['winnow_requests{status="IN_PROGRESS"}', 1],
    ['winnow_queue_oldest_seconds', 0],
    ['winnow_outbox_jobs', 0],
    ['winnow_webhooks_unsettled', 1],
    ['winnow_webhooks_due', 1],
    ['winnow_status_watches', 1],
    ['winnow_engines', 1],
    ['winnow_broker_connected', 1],
    [
      'winnow_http_request_seconds_count{method="POST",route="/v1/queue/audio/separate",status="202"}',
      4,
    ],
    ['winnow_http_request_seconds_bucket{le="+Inf",method="GET",route="",status="404"}', 1],
    [
      'winnow_http_request_seconds_count{method="GET",route="/v1/queue/requests/:request_id/status",status="200"}',
      1,
    ],
    [
      'winnow_grpc_call_seconds_count{method="/winnow.separation.v1.SeparationService/Get",status="OK"}',
      1,
    ],
  ] as const)
    assert.equal(values.get(name), value, name)
})

test('extension: metrics say how long the work would take one engine, by model and status', async (t) => {
  const gateway = await startGateway(t)
  const address = await startMetrics(t, gateway)
  const source = { audio_url: 'https://media.example/x.wav' }
  const first = await gateway.submitted(source)
  await gateway.event('started', first)
  gateway.clock.advance(10_000)
  await gateway.event('completed', first, { duration: 20 })
  const running = await gateway.submitted(source)
  await gateway.submitted({ ...source, separator: 'htdemucs' })
  await gateway.event('started', running)
  gateway.feed.progressed({
    request_id: running,
    attempt_id: 'attempt-1',
    at: new Date(gateway.clock.now()).toISOString(),
    progress: 0.75,
  })
  gateway.clock.advance(1_000) // the maximum age of cached values
  const values = await read(address)
  const left = [...values].filter(([name]) => name.startsWith('winnow_work_seconds'))
  assert.deepEqual(Object.fromEntries(left), {
    'winnow_work_seconds{model="auto",status="IN_QUEUE"}': 0,
    'winnow_work_seconds{model="auto",status="IN_PROGRESS"}': 2.5,
    'winnow_work_seconds{model="htdemucs",status="IN_QUEUE"}': 10,
    'winnow_work_seconds{model="htdemucs",status="IN_PROGRESS"}': 0,
  })
})

test('extension: metrics name no request, key or account, and are not on the port of the API', async (t) => {
  const gateway = await startGateway(t)
  const address = await startMetrics(t, gateway)
  const requestId = await gateway.submitted()
  await gateway.call('GET', `${API}/requests/${requestId}/status`)
  const text = await (await fetch(`${address}/metrics`)).text()
  assert.equal(/(req|file|acct|http)_[0-9a-f]{8}|sep_/.exec(text), null)
  assert.equal((await gateway.call('GET', '/metrics')).statusCode, 404)
  assert.equal((await fetch(`${address}/v1/models`)).status, 404)
  assert.equal((await fetch(`${address}/metrics`, { method: 'POST' })).status, 405)
})

const COUNTED_IN_DATABASE = [
  'winnow_requests{status="IN_QUEUE"}',
  'winnow_queue_oldest_seconds',
  'winnow_outbox_jobs',
  'winnow_webhooks_due',
  'winnow_work_seconds{model="auto",status="IN_QUEUE"}',
]

async function assertWithoutDatabase(address: string): Promise<void> {
  const values = await read(address)
  assert.equal(values.get('winnow_database_up'), 0)
  assert.equal(values.get('winnow_requests_submitted_total'), 1, 'counters are there')
  assert.equal(values.get('winnow_broker_connected'), 1)
  for (const name of COUNTED_IN_DATABASE) assert.equal(values.has(name), false, name)
}

test('extension: metrics are served while the database fails, without its counts', async (t) => {
  const gateway = await startGateway(t)
  const address = await startMetrics(t, gateway)
  await gateway.submitted()
  const values = await read(address)
  assert.equal(values.get('winnow_database_up'), 1)
  for (const name of COUNTED_IN_DATABASE) assert.equal(values.has(name), true, name)
  await gateway.store.schema.dropTable('outbox').execute()
  await assertWithoutDatabase(address)
})

const skip = databaseKind() === 'sqlite' && 'PostgreSQL alone locks a table against readers'

test(
  'extension: metrics are served while the database hangs, and query it once',
  { skip },
  async (t) => {
    const gateway = await startGateway(t)
    const address = await startMetrics(t, gateway)
    await gateway.submitted()
    await gateway.store.transaction().execute(async (transaction) => {
      await sql`lock table outbox in access exclusive mode`.execute(transaction)
      await Promise.all(Array.from({ length: 20 }, () => assertWithoutDatabase(address)))
      const { rows } = await sql<{ waiting: number }>`
      select count(*) as waiting from pg_locks
      where not granted and relation = 'outbox'::regclass`.execute(transaction)
      assert.deepEqual(rows, [{ waiting: 1 }])
    })
    while ((await read(address)).get('winnow_database_up') === 0);
    assert.equal((await read(address)).get('winnow_outbox_jobs'), 0)
  },
)

test('a missing folder only leaves out the metrics of its disk', async () => {
  const metrics = new Metrics()
  metrics.watchProcess('/there/is/no/such/folder')
  const text = await metrics.text()
  assert.match(text, /^winnow_requests_submitted_total 0$/m)
  assert.doesNotMatch(text, /^winnow_disk_/m)
  const there = new Metrics()
  there.watchProcess('.')
  assert.match(await there.text(), /^winnow_disk_size_bytes [1-9]\d+$/m)
})
