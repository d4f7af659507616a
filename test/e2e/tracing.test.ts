/** Spans as an OTLP receiver gets them: one trace from a client's call to its webhook. */

import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { randomBytes } from 'node:crypto'
import test, { before, beforeEach, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { separationClient } from '../support/clients/separation-client.ts'
import { noise } from '../support/media/signals.ts'
import { wavBytes } from '../support/media/wav.ts'
import { startOtlpReceiver, type ReceivedSpan } from '../support/http/otlp-receiver.ts'
import { API_KEY, startWinnow, type Winnow } from '../support/processes/start-winnow.ts'
import { startReceiver } from '../support/http/webhook-receiver.ts'

const CALLER = '00f067aa0ba902b7'
const SPANS_MS_MAX = 60_000
/** Who calls, and the kinds of the spans: client and server. */
const GATEWAY_TO_ENGINE = ['winnow-gateway', 3, 2]

let winnow: Winnow
let spans: ReceivedSpan[]
let webhooks: Awaited<ReturnType<typeof startReceiver>>
before(async (t) => {
  const otlp = await startOtlpReceiver(t as TestContext)
  spans = otlp.spans
  webhooks = await startReceiver(t as TestContext)
  winnow = await startWinnow(t as TestContext, {
    env: {
      OTEL_EXPORTER_OTLP_ENDPOINT: otlp.url,
      OTEL_BSP_SCHEDULE_DELAY: '50',
      EGRESS_ALLOW_CIDRS: '127.0.0.1/32',
      DRAIN_SECONDS: '0',
    },
  })
})

/** The caller's trace, new in each test. */
let trace = ''
let caller = ''
beforeEach(() => {
  trace = randomBytes(16).toString('hex')
  caller = `00-${trace}-${CALLER}-01`
})

async function upload(seconds: number): Promise<string> {
  const path = join(winnow.folder, 'noise.wav')
  await writeFile(path, wavBytes([noise(seconds, 8_000)], 8_000))
  return winnow.client.upload(path, 'audio/wav')
}

const call = (path: string, method: string, body?: object) =>
  fetch(`${winnow.url}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${API_KEY}`,
      traceparent: caller,
      ...(body && { 'content-type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
  })

async function submit(seconds: number): Promise<void> {
  const input = { prompt: 'noise', file_id: await upload(seconds) }
  const body = { input, webhookUrl: webhooks.url }
  assert.equal((await call('/v1/queue/audio/separate', 'POST', body)).status, 202)
}

/** Resolves with the first span of this name that matches; by default, one in the caller's trace. */
async function span(
  name: string,
  isIt: (span: ReceivedSpan) => boolean = ({ traceId }) => traceId === trace,
): Promise<ReceivedSpan> {
  const deadline = Date.now() + SPANS_MS_MAX
  for (;;) {
    const found = spans.find((span) => span.name === name && isIt(span))
    if (found) return found
    const names = spans.map((span) => span.name).join(', ')
    assert.ok(Date.now() < deadline, `no span ${name} among ${names}`)
    await sleep(50)
  }
}

test("a request is one trace, from its client's call through the engine to its webhook", async () => {
  await submit(3)
  const { headers, answer } = await webhooks.next()
  answer(200)
  /** Each span with its parent; `caller` is the client's own span. */
  const chain = [
    ['POST /v1/queue/audio/separate', 'caller', 'gateway', 2],
    ['publish job', 'POST /v1/queue/audio/separate', 'gateway', 4],
    ['separate', 'publish job', 'engine', 5],
    ['publish started', 'separate', 'engine', 4],
    ['handle started', 'publish started', 'gateway', 5],
    ['fetch', 'separate', 'engine', 1],
    ['measure', 'separate', 'engine', 1],
    ['decode', 'separate', 'engine', 1],
    ['queue', 'separate', 'engine', 1],
    ['steps', 'separate', 'engine', 1],
    ['encode', 'separate', 'engine', 1],
    ['upload target', 'separate', 'engine', 1],
    ['upload residual', 'separate', 'engine', 1],
    ['publish completed', 'separate', 'engine', 4],
    ['handle completed', 'publish completed', 'gateway', 5],
    ['webhook', 'handle completed', 'gateway', 3],
  ] as const
  const idOf = async (name: string) => (name === 'caller' ? CALLER : (await span(name)).spanId)
  for (const [name, parent, service, kind] of chain) {
    const found = await span(name)
    assert.equal(found.parentSpanId, await idOf(parent), `the parent of ${name}`)
    assert.equal(found.service, `winnow-${service}`, name)
    assert.equal(found.kind, kind, name)
    assert.equal(found.status.code ?? 0, 0, name)
    assert.ok(BigInt(found.endTimeUnixNano) >= BigInt(found.startTimeUnixNano), name)
  }
  assert.equal(headers.traceparent, `00-${trace}-${(await span('webhook')).spanId}-01`)
  assert.doesNotMatch(JSON.stringify(spans), /signature|sep_|whsec_|expires=/i)
})

test("a gRPC call continues its caller's trace, and the span of a status stream ends before the stream", async (t) => {
  const client = separationClient(winnow.gateway.ready.grpc ?? '', API_KEY)
  t.after(() => client.close())
  const input = { prompt: 'noise', file_id: await upload(1) }
  const metadata = { traceparent: caller }
  const { request_id: requestId } = await client.call('Submit', { input }, { metadata })
  const serverSpan = await span('winnow.separation.v1.SeparationService/Submit')
  assert.deepEqual([serverSpan.parentSpanId, serverSpan.kind], [CALLER, 2])
  assert.equal((await span('publish job')).parentSpanId, serverSpan.spanId)
  const gone = new AbortController()
  const stream = await fetch(`${winnow.url}/v1/queue/requests/${requestId}/status/stream`, {
    headers: { authorization: `Bearer ${API_KEY}`, traceparent: caller },
    signal: gone.signal,
  })
  assert.equal(stream.status, 200)
  await span('GET /v1/queue/requests/:request_id/status/stream')
  gone.abort()
})

test('a later attempt of a job or a webhook is a trace of its own, with a link', async () => {
  await submit(600)
  await span('publish started')
  assert.equal(await winnow.engines[0]?.end('SIGTERM'), 0)
  await winnow.startEngine()
  const released = await span('handle released')
  const again = await span('publish job', ({ links }) => links?.[0]?.traceId === trace)
  assert.equal(again.parentSpanId ?? '', '')
  assert.deepEqual(
    again.links?.map(({ traceId, spanId }) => ({ traceId, spanId })),
    [{ traceId: trace, spanId: released.spanId }],
  )
  const isLater = ({ traceId }: ReceivedSpan) => traceId === again.traceId
  assert.equal((await span('separate', isLater)).parentSpanId, again.spanId)
  ;(await webhooks.next()).answer(500)
  webhooks.answerAll(200)
  const refused = await span('webhook', isLater)
  const isRetry = ({ links }: ReceivedSpan) => links?.[0]?.spanId === refused.parentSpanId
  assert.notEqual((await span('webhook', isRetry)).traceId, refused.traceId)
})

test('calls to an engine belong to the trace that caused them', async () => {
  await submit(600)
  await span('handle started')
  trace = 'a'.repeat(32)
  caller = `00-${trace}-${CALLER}-01`
  assert.equal((await call('/v1/models', 'GET')).status, 200)
  const { data } = (await (await call('/v1/queue/requests', 'GET')).json()) as {
    data: { request_id: string }[]
  }
  const path = `/v1/queue/requests/${data[0]?.request_id}/cancel`
  assert.equal((await call(path, 'PUT')).status, 202)
  const inTrace = (name: string, service: string) =>
    span(name, (found) => found.traceId === trace && found.service === service)
  for (const [method, route] of [
    ['Describe', 'GET /v1/models'],
    ['Cancel', 'PUT /v1/queue/requests/:request_id/cancel'],
  ]) {
    const name = `winnow.engine.v1.EngineControl/${method}`
    const serverSpan = await inTrace(name, 'winnow-engine')
    // The engine that ended may have been called, too.
    const clientSpan = await span(name, ({ spanId }) => spanId === serverSpan.parentSpanId)
    assert.deepEqual(
      [clientSpan.service, clientSpan.kind, serverSpan.kind],
      GATEWAY_TO_ENGINE,
      name,
    )
    assert.equal(clientSpan.parentSpanId, (await inTrace(route!, 'winnow-gateway')).spanId, name)
  }
  assert.ok(
    spans.every(({ name, parentSpanId }) => !name.includes('EngineControl') || parentSpanId),
  )
})
