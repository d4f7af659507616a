/** `GET /metrics` on a port of its own: docs/decisions/api.md. */

import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { sql } from 'kysely'
import { Metrics } from '../../gateway/operations/metrics.ts'
import { createMetricsText } from '../../gateway/operations/state-metrics.ts'
import { startMetricsServer } from '../../shared/telemetry/metrics-server.ts'
import { startSeparationClient } from '../support/clients/separation-client.ts'
import { databaseKind } from '../support/database/test-database.ts'
import {
  API,
  complete,
  startGateway,
  submitted,
  uploadFile,
  type Gateway,
} from '../support/gateway/start-gateway.ts'

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

test('extension: metrics count queued requests, outcomes and calls', async (t) => {
  const gateway = await startGateway(t)
  const address = await startMetrics(t, gateway)
  const { call } = await startSeparationClient(t, gateway)
  const [completed, failed, canceled] = [
    await submitted(gateway),
    await submitted(gateway),
    await submitted(gateway),
  ]
  gateway.clock.advance(7_000)
  const running = await submitted(gateway)
  await gateway.event('started', running)
  await complete(gateway, completed)
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
  const first = await submitted(gateway, source)
  await gateway.event('started', first)
  gateway.clock.advance(10_000)
  await gateway.event('completed', first, { duration: 20 })
  const running = await submitted(gateway, source)
  await submitted(gateway, { ...source, separator: 'htdemucs' })
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

test('extension: metrics count webhooks that have not been sent yet', async (t) => {
  const gateway = await startGateway(t)
  const address = await startMetrics(t, gateway)
  const submit = async () => {
    const reply = await gateway.call('POST', `${API}/audio/separate`, {
      body: {
        input: { prompt: 'x', file_id: await uploadFile(gateway) },
        webhookUrl: 'https://a.example/',
      },
    })
    await gateway.publish()
    return reply.json().request_id as string
  }
  await submit()
  await gateway.call('PUT', `${API}/requests/${await submit()}/cancel`)
  const values = await read(address)
  assert.equal(values.get('winnow_webhooks_unsettled'), 1)
  assert.equal(values.get('winnow_webhooks_due'), 1)
})

test('extension: metrics name no request, key or account, and are not on the port of the API', async (t) => {
  const gateway = await startGateway(t)
  const address = await startMetrics(t, gateway)
  const requestId = await submitted(gateway)
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
  await submitted(gateway)
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
    await submitted(gateway)
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
