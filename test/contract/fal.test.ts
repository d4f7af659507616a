/** fal's published client with this service as its proxy. */

import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createFalClient, type FalClient, type QueueStatus } from '@fal-ai/client'
import {
  FILE_BYTES,
  type Gateway,
  type GatewayOptions,
  startGateway,
} from '../support/gateway/start-gateway.ts'

const MODEL = 'fal-ai/sam-audio/separate'
const AUDIO = new File([FILE_BYTES], 'concert.m4a', { type: 'audio/mp4' })
const HOOK = 'https://hooks.example.com/fal'

async function start(t: TestContext, options: GatewayOptions = {}) {
  let address = ''
  const gateway = await startGateway(t, {
    ...options,
    config: { publicUrl: () => address, ...options.config },
  })
  address = await gateway.listen()
  const fal = clientOf(address, gateway.key)
  return { gateway, fal, address }
}

const clientOf = (address: string, key: string): FalClient =>
  createFalClient({
    proxyUrl: { url: `${address}/fal`, when: 'always' },
    credentials: key,
    retry: { maxRetries: 0 },
  })

/** Completes the first request like an engine while the client's call `work` is running. */
async function completeDuring<T>(gateway: Gateway, work: Promise<T>): Promise<T> {
  await gateway.complete(await gateway.firstRequest())
  return work
}

test('fal.subscribe with a Blob gives fal its result, by polling and by streaming', async (t) => {
  for (const mode of ['polling', 'streaming'] as const) {
    const { gateway, fal, address } = await start(t)
    const updates: QueueStatus[] = []
    const input = { audio_url: AUDIO, prompt: 'a bell', output_format: 'mp3' } as const
    const subscribed = fal.subscribe(MODEL, {
      input: { ...input, predict_spans: true },
      mode,
      logs: true,
      onQueueUpdate: (update) => updates.push(update),
    })
    while (updates.length === 0) await sleep(5)
    const { data, requestId } = await completeDuring(gateway, subscribed)
    assert.equal(updates[0]?.status, 'IN_QUEUE')
    assert.deepEqual([updates.at(-1)?.status, updates.at(-1)?.request_id], ['COMPLETED', requestId])
    assert.deepEqual([data.duration, data.sample_rate], [12.5, 48_000])
    const { prompt, options, source } = gateway.broker.jobOf(requestId)
    const { output_format, predict_spans } = options
    assert.deepEqual([prompt, output_format, predict_spans], ['a bell', 'mp3', true])
    assert.equal((await gateway.call('GET', source.url)).body, FILE_BYTES.toString())
    const target = await fetch(data.target.url!.replace(/^.*(?=\/media)/, address))
    assert.equal(await target.text(), 'target')
    assert.match(data.residual.url!, /residual/)
  }
})

test('a webhook has the shape of fal, whether a request completes or fails', async (t) => {
  const { gateway, fal } = await start(t)
  const submit = async () => {
    const { request_id: id } = await fal.queue.submit('fal-ai/sam-audio/span-separate', {
      input: {
        audio_url: 'https://example.com/a.wav',
        prompt: 'a bell',
        spans: [{ start: 0, end: 1 }],
      },
      webhookUrl: HOOK,
    })
    await gateway.publish()
    const sent = async () => {
      const deliveries = await gateway.rows('deliveries')
      const delivery = deliveries.find(({ request_id }) => request_id === id)
      return JSON.parse(delivery!.body) as Record<string, any>
    }
    return { id, sent }
  }
  const completed = await submit()
  await gateway.complete(completed.id)
  const { payload, ...ok } = await completed.sent()
  const { id } = completed
  assert.deepEqual(ok, { request_id: id, gateway_request_id: id, status: 'OK' })
  assert.equal(payload.duration, 12.5)
  assert.match(payload.target.url, /target/)
  const failed = await submit()
  await gateway.event('started', failed.id)
  await gateway.event('failed', failed.id)
  const { status, error, payload: why } = await failed.sent()
  assert.deepEqual([status, error, why], ['ERROR', 'The model failed.', { detail: error }])
  const end = await fal.queue.status(MODEL, { requestId: failed.id })
  assert.equal(end.status, 'COMPLETED')
  await assert.rejects(fal.queue.result(MODEL, { requestId: failed.id }), {
    status: 409,
    requestId: failed.id,
    message: 'The request failed: MODEL_FAILED: The model failed.',
  })
})

test('fal.run waits for the result, and fal.queue.cancel ends a request', async (t) => {
  const { gateway, fal } = await start(t)
  const input = { audio_url: 'https://example.com/a.wav', prompt: 'a bell' }
  const { data } = await completeDuring(gateway, fal.run(MODEL, { input }))
  assert.equal(data.duration, 12.5)
  const { request_id: requestId } = await fal.queue.submit(MODEL, { input })
  await fal.queue.cancel(MODEL, { requestId })
  const status = await fal.queue.status(MODEL, { requestId })
  assert.deepEqual([status.status, Object(status).error_type], ['COMPLETED', 'CANCELED'])
})

test('fal.run cancels its request if it may not wait for it, or if its client disconnects', async (t) => {
  const { gateway, fal, address } = await start(t, { streamsMaxPerAccount: 1 })
  const input = { audio_url: 'https://example.com/a.wav', prompt: 'a bell' }
  const running = async () =>
    (await gateway.rows('requests')).filter((row) => row.error_code === null).length
  const { request_id: waiting } = await fal.queue.submit(MODEL, { input })
  const watch = gateway.feed.watch(waiting, gateway.accountId)
  await assert.rejects(fal.run(MODEL, { input }), { status: 429 })
  assert.equal(await running(), 1, 'the one that was submitted')
  const stream = `${address}/fal/queue/fal-ai/sam-audio/requests/${waiting}/status/stream`
  const refused = await fetch(stream, { headers: { authorization: `Key ${gateway.key}` } })
  assert.equal(refused.status, 429)
  watch.close()

  const leave = new AbortController()
  const left = fal.run(MODEL, { input, abortSignal: leave.signal })
  while ((await running()) < 2) await sleep(5)
  leave.abort()
  await assert.rejects(left)
  while ((await running()) > 1) await sleep(5)
})

test("invalid or unsupported input is refused by name, in fal's format", async (t) => {
  const { gateway, fal, address } = await start(t)
  const audio_url = 'https://example.com/a.wav'
  const refusals: [input: object, field: string, says: RegExp][] = [
    [{ audio_url }, 'prompt', /prompt is required/],
    [{ audio_url, prompt: 'a', trim_to_span: true }, 'trim_to_span', /not supported/],
    [{ audio_url, prompt: 'a', strength: 1 }, 'strength', /not a known field/],
    [{ audio_url: 'data:audio/wav;base64,AAAA', prompt: 'a' }, 'audio_url', /a Blob/],
    [{ audio_url: `${address}/fal/files/file_of_nobody`, prompt: 'a' }, 'file_id', /file/],
  ]
  for (const [input, field, says] of refusals) {
    await assert.rejects(fal.queue.submit(MODEL, { input: input as never }), (error: any) => {
      assert.equal(error.status, 422, JSON.stringify(error.body))
      assert.match(error.getFieldErrors(field)[0].msg, says)
      return true
    })
  }
  const requestId = 'req_of_nobody'
  await assert.rejects(fal.queue.status(MODEL, { requestId }), { status: 404 })
  const visual = fal.queue.submit('fal-ai/sam-audio/visual-separate', { input: {} as never })
  await assert.rejects(visual, { status: 404, message: /supports separate and span-separate/ })
  await assert.rejects(fal.queue.submit('fal-ai/flux/dev', { input: { prompt: 'a' } }), {
    status: 404,
  })
  await assert.rejects(clientOf(address, 'wrong').queue.status(MODEL, { requestId }), {
    status: 401,
  })
  const reader = clientOf(address, await gateway.newKey(['models:read']))
  await assert.rejects(reader.storage.upload(AUDIO), { status: 403 })
  const large = new File([new Uint8Array(91 << 20)], 'long.wav', { type: 'audio/wav' })
  await assert.rejects(fal.storage.upload(large), { status: 413, message: /90 MB/ })
})

test('a Blob belongs to its account, and its address accepts bytes once', async (t) => {
  const { gateway, fal, address } = await start(t)
  const url = await fal.storage.upload(AUDIO)
  const other = clientOf(address, await gateway.newKey())
  const input = { audio_url: url, prompt: 'a bell' }
  await assert.rejects(other.queue.submit(MODEL, { input }), { status: 422 })
  await fal.queue.submit(MODEL, { input })
  const headers = { authorization: `Key ${gateway.key}`, 'content-type': 'application/json' }
  const begun = await fetch(`${address}/fal/rest/storage/upload/initiate`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ file_name: 'a.wav', content_type: 'audio/wav' }),
  })
  const { upload_url: put } = (await begun.json()) as { upload_url: string }
  const send = async (to: string) => (await fetch(to, { method: 'PUT', body: FILE_BYTES })).status
  assert.deepEqual([await send(put), await send(put)], [200, 409])
  for (const method of ['OPTIONS', 'POST']) await fetch(put, { method })
  const logged = JSON.stringify(gateway.logged('info'))
  assert.ok(logged.includes('/fal/uploads/…'), logged)
  assert.ok(!logged.includes(put.split('/').at(-1)!), 'the token is not logged')
  assert.equal(await send(put.slice(0, -4)), 404)
  gateway.clock.advance(61 * 60_000)
  assert.equal(await send(put), 410)
})

test('without the setting there is nothing at /fal', async (t) => {
  const { fal } = await start(t, { config: { falApi: 'off' } })
  await assert.rejects(fal.queue.status(MODEL, { requestId: 'req_1' }), { status: 404 })
})
