/** Spans as an OTLP receiver gets them: one trace from the client's call to its webhook. */

import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import * as grpc from '@grpc/grpc-js'
import { engineControlService } from '../../shared/engine-control.ts'
import { SEPARATION_SERVICE, separationPackage } from '../../gateway/grpc/server.ts'
import { noise } from '../support/media/signals.ts'
import { wavBytes } from '../support/media/wav.ts'
import { startOtlpReceiver, type ReceivedSpan } from '../support/http/otlp-receiver.ts'
import { API_KEY, startWinnow } from '../support/processes/start-winnow.ts'
import { startReceiver } from '../support/http/webhook-receiver.ts'

const TRACE_ID = '4bf92f3577b34da6a3ce929d0e0e4736'
const CALLER = '00f067aa0ba902b7'
const SPANS_MS_MAX = 60_000

async function startTraced(t: TestContext, seconds: number, engines = 1) {
  const { url: endpoint, spans } = await startOtlpReceiver(t)
  const webhooks = await startReceiver(t)
  const winnow = await startWinnow(t, {
    engines,
    env: {
      OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
      OTEL_BSP_SCHEDULE_DELAY: '50',
      EGRESS_ALLOW_CIDRS: '127.0.0.1/32',
      DRAIN_SECONDS: '0',
    },
  })
  const path = join(winnow.folder, 'noise.wav')
  await writeFile(path, wavBytes([noise(seconds, 8_000)], 8_000))
  const fileId = await winnow.client.upload(path, 'audio/wav')
  return {
    winnow,
    fileId,
    spans,
    webhooks,
    submit: async () => {
      const reply = await fetch(`${winnow.url}/v1/queue/audio/separate`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${API_KEY}`,
          'content-type': 'application/json',
          traceparent: `00-${TRACE_ID}-${CALLER}-01`,
        },
        body: JSON.stringify({
          input: { prompt: 'noise', file_id: fileId },
          webhookUrl: webhooks.url,
        }),
      })
      assert.equal(reply.status, 202)
    },
    /** The first span of the name, as soon as it has come. */
    async span(name: string, isIt: (span: ReceivedSpan) => boolean = () => true) {
      const deadline = Date.now() + SPANS_MS_MAX
      for (;;) {
        const found = spans.find((span) => span.name === name && isIt(span))
        if (found) return found
        const names = spans.map((span) => span.name).join(', ')
        assert.ok(Date.now() < deadline, `no span ${name} among ${names}`)
        await sleep(50)
      }
    },
  }
}

test("a request is one trace, from its client's call over the engine to its webhook", async (t) => {
  const { span, spans, submit, webhooks } = await startTraced(t, 3)
  webhooks.answerAll(200)
  await submit()
  const { headers } = await webhooks.next()
  /** Each with what it is in; `caller` is the client's own. */
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
    assert.equal(found.traceId, TRACE_ID, name)
    assert.equal(found.parentSpanId, await idOf(parent), `the parent of ${name}`)
    assert.equal(found.service, `winnow-${service}`, name)
    assert.equal(found.kind, kind, name)
    assert.equal(found.status.code ?? 0, 0, name)
    assert.ok(BigInt(found.endTimeUnixNano) >= BigInt(found.startTimeUnixNano), name)
  }
  assert.equal(headers.traceparent, `00-${TRACE_ID}-${(await span('webhook')).spanId}-01`)
  assert.doesNotMatch(JSON.stringify(spans), /signature|sep_|whsec_|expires=/i)
})

test('a later attempt and a later try of a webhook are traces of their own, with a link', async (t) => {
  const { span, submit, winnow, webhooks } = await startTraced(t, 120)
  await submit()
  const first = await span('publish started')
  assert.equal(await winnow.engines[0]?.end('SIGTERM'), 0)
  await winnow.startEngine()
  const released = await span('handle released')
  assert.equal(released.traceId, first.traceId)
  const isLater = (found: ReceivedSpan) => found.traceId !== TRACE_ID
  const again = await span('publish job', isLater)
  assert.equal(again.parentSpanId ?? '', '')
  assert.deepEqual(
    again.links?.map(({ traceId, spanId }) => ({ traceId, spanId })),
    [{ traceId: TRACE_ID, spanId: released.spanId }],
  )
  const attempt = await span('separate', isLater)
  assert.deepEqual([attempt.traceId, attempt.parentSpanId], [again.traceId, again.spanId])
  ;(await webhooks.next()).answer(500)
  webhooks.answerAll(200)
  const refused = await span('webhook')
  assert.equal(refused.traceId, again.traceId)
  const retried = await span('webhook', ({ spanId }) => spanId !== refused.spanId)
  assert.notEqual(retried.traceId, refused.traceId)
  assert.equal(retried.links?.[0]?.spanId, refused.parentSpanId)
})

test("a gRPC call goes on with its caller's trace, and a status stream does not last in it", async (t) => {
  const { span, winnow, fileId } = await startTraced(t, 1, 0) // without an engine it waits
  const Client = grpc.makeGenericClientConstructor(
    separationPackage[SEPARATION_SERVICE] as grpc.ServiceDefinition,
    'SeparationService',
  )
  const address = winnow.gateway.ready.grpc ?? ''
  const client = new Client(address, grpc.credentials.createInsecure())
  t.after(() => client.close())
  const metadata = new grpc.Metadata()
  metadata.set('authorization', `Bearer ${API_KEY}`)
  metadata.set('traceparent', `00-${TRACE_ID}-${CALLER}-01`)
  const request = { input: { prompt: 'noise', file_id: fileId } }
  const { request_id: requestId } = await new Promise<{ request_id: string }>((resolve, reject) => {
    client.Submit?.(request, metadata, (error: Error | null, reply: { request_id: string }) =>
      error ? reject(error) : resolve(reply),
    )
  })
  const call = await span('winnow.separation.v1.SeparationService/Submit')
  assert.deepEqual([call.traceId, call.parentSpanId, call.kind], [TRACE_ID, CALLER, 2])
  assert.equal((await span('publish job')).parentSpanId, call.spanId)
  const gone = new AbortController()
  const stream = await fetch(`${winnow.url}/v1/queue/requests/${requestId}/status/stream`, {
    headers: { authorization: `Bearer ${API_KEY}` },
    signal: gone.signal,
  })
  assert.equal(stream.status, 200)
  await span('GET /v1/queue/requests/:request_id/status/stream')
  gone.abort()
})

test('calls to an engine belong to the trace of what asked for them', async (t) => {
  const { span, spans, submit, winnow } = await startTraced(t, 240)
  await submit()
  const started = await span('handle started')
  const caller = `00-${'a'.repeat(32)}-${CALLER}-01`
  const call = (path: string, method: string) =>
    fetch(`${winnow.url}${path}`, {
      method,
      headers: { authorization: `Bearer ${API_KEY}`, traceparent: caller },
    })
  assert.equal((await call('/v1/models', 'GET')).status, 200)
  const { data } = (await (await call('/v1/queue/requests', 'GET')).json()) as {
    data: { request_id: string }[]
  }
  const path = `/v1/queue/requests/${data[0]?.request_id}/cancel`
  assert.equal((await call(path, 'PUT')).status, 202)
  const control = new grpc.Client(
    winnow.engines[0]?.ready.control ?? '',
    grpc.credentials.createInsecure(),
  )
  t.after(() => control.close())
  const metadata = new grpc.Metadata()
  metadata.set('traceparent', caller)
  const { path: drain, requestSerialize, responseDeserialize } = engineControlService.Drain!
  await new Promise<void>((resolve, reject) => {
    control.makeUnaryRequest(
      drain,
      requestSerialize,
      responseDeserialize,
      { deadline_ms: 1 },
      metadata,
      (error) => (error ? reject(error) : resolve()),
    )
  })
  const inTrace = (name: string, service: string) =>
    span(name, (found) => found.traceId === 'a'.repeat(32) && found.service === service)
  for (const [method, route] of [
    ['Describe', 'GET /v1/models'],
    ['Cancel', 'PUT /v1/queue/requests/:request_id/cancel'],
  ]) {
    const name = `winnow.engine.v1.EngineControl/${method}`
    const asked = await inTrace(name, 'winnow-gateway')
    const served = await inTrace(name, 'winnow-engine')
    assert.deepEqual([asked.kind, served.kind], [3, 2], name)
    assert.equal(asked.parentSpanId, (await inTrace(route!, 'winnow-gateway')).spanId, name)
    assert.equal(served.parentSpanId, asked.spanId, name)
  }
  const drained = await inTrace('winnow.engine.v1.EngineControl/Drain', 'winnow-engine')
  assert.equal(drained.parentSpanId, CALLER)
  assert.equal(started.traceId, TRACE_ID)
  assert.ok(
    spans.every(({ name, parentSpanId }) => !name.includes('EngineControl') || parentSpanId),
  )
})
