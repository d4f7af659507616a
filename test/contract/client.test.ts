/** The TypeScript client with the gateway, over HTTP. */

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import type { RequestListener } from 'node:http'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import test, { type TestContext } from 'node:test'
import { ApiError, createClient, UnreachableError } from '../../clients/typescript/node.ts'
import {
  CLIENT_TYPES,
  makeClientTypes,
  makePythonClientTypes,
  PYTHON_TYPES,
} from '../../scripts/tools/client-types.ts'
import { temporaryFolder } from '../support/basics/temporary-folder.ts'
import { serve } from '../support/http/serve.ts'
import {
  createFileBody,
  FILE_BYTES,
  type GatewayOptions,
  startGateway,
} from '../support/gateway/start-gateway.ts'

async function start(t: TestContext, options: GatewayOptions = {}) {
  let address = ''
  const config = { publicUrl: () => address, ...options.config }
  const gateway = await startGateway(t, { ...options, config })
  address = await gateway.listen()
  const path = join(gateway.folder, 'concert.m4a')
  await writeFile(path, FILE_BYTES)
  return {
    gateway,
    address,
    path,
    client: createClient({ baseUrl: `${address}/`, apiKey: gateway.key }),
  }
}

test('clients: their types match the API description', async () => {
  const types = [readFileSync(CLIENT_TYPES, 'utf8'), readFileSync(PYTHON_TYPES, 'utf8')]
  const generated = [await makeClientTypes(), makePythonClientTypes()]
  assert.deepEqual(types, generated, 'run: npm run winnow -- client-types')
})

test('client: a complete download replaces a file, and leaves nothing else behind', async (t) => {
  const { gateway, address, client } = await start(t)
  const saved = join(gateway.folder, 'saved', 'song.wav')
  await mkdir(dirname(saved))
  await writeFile(saved, 'an earlier one')
  const { url } = await serve(
    t,
    (_request, reply) => {
      reply.writeHead(200, { 'content-length': 1_000 }).write('the half')
      setImmediate(() => reply.destroy())
    },
    (_request, reply) => void reply.end('the whole'),
  )
  const once = createClient({ baseUrl: address, apiKey: gateway.key, retries: 0 })
  await assert.rejects(once.download(url, saved))
  assert.equal(await readFile(saved, 'utf8'), 'an earlier one')
  await client.download(url, saved)
  assert.equal(await readFile(saved, 'utf8'), 'the whole')
  assert.deepEqual(await readdir(dirname(saved)), ['song.wav'])
})

test('client: a file is uploaded, separated, waited for and downloaded', async (t) => {
  const { gateway, path, client } = await start(t)
  const parts: number[] = []
  const fileId = await client.upload(path, 'audio/mp4', (part) => parts.push(part))
  assert.deepEqual(parts, [1])
  assert.equal((await client.file(fileId)).status, 'uploaded')
  const submitted = await client.submit({ input: { prompt: 'a bell', file_id: fileId } })
  assert.equal((await client.status(submitted)).status, 'IN_QUEUE')
  const waiting = client.wait(submitted.request_id)
  await gateway.publish()
  await gateway.complete(submitted.request_id)
  const { data } = await waiting
  assert.equal(data.sample_rate, 48_000)
  const saved = join(gateway.folder, 'saved.wav')
  await client.download(data.target.url, saved)
  assert.equal(await readFile(saved, 'utf8'), 'target')
  assert.deepEqual(await client.result(submitted), await client.result(submitted.request_id))
  const { data: listed, next_cursor: cursor } = await client.list({ limit: 1 })
  assert.deepEqual(
    listed.map((one) => one.request_id),
    [submitted.request_id],
  )
  assert.equal(cursor, null)
  assert.equal((await client.models()).data[0]?.id, 'audio/separate')
})

test('client: one call separates a file, or names the failure', async (t) => {
  const { gateway, path, client } = await start(t)
  const separating = client.separate(path, ['a bell', 'a dog'], {
    input: { output_format: 'flac', predict_spans: true, spans: [{ start: 0, end: 1 }] },
    metadata: { take: 1 },
  })
  const requestId = await gateway.firstRequest()
  const job = gateway.broker.jobOf(requestId)
  assert.deepEqual([job.prompt, job.options.further_prompts], ['a bell', ['a dog']])
  assert.deepEqual(
    [job.options.output_format, job.options.predict_spans, job.options.spans],
    ['flac', true, [{ start: 0, end: 1, include: true }]],
  )
  await gateway.complete(requestId)
  const { data, metadata } = await separating
  assert.equal(data.targets?.length, 2)
  assert.deepEqual(metadata, { take: 1 })
  await client.delete(requestId)
  const failing = client.separate(
    { name: 'a.wav', contentType: 'audio/wav', bytes: new Blob([FILE_BYTES]) },
    'a bell',
  )
  const failed = await gateway.firstRequest()
  await gateway.event('started', failed)
  const error = { code: 'NO_AUDIO_STREAM', message: 'The file has no sound.' } as const
  await gateway.event('failed', failed, { error })
  await assert.rejects(failing, { code: 'NO_AUDIO_STREAM' })
})

test('client: every call has its method, path, key, headers and body', async (t) => {
  let seen = ''
  const keys: unknown[] = []
  const { url } = await serve(t, (request, reply) => {
    const { authorization, 'x-own': own, 'idempotency-key': key } = request.headers
    assert.deepEqual([authorization, own], ['Bearer key', 'here'])
    void text(request).then((body) => {
      if (request.url?.endsWith('/separate')) keys.push(key)
      seen = `${request.method} ${request.url} ${body}`.trim()
      if (request.url?.includes('/stream')) return completed(request, reply)
      reply.end('{"unknown_field":[1]}')
    })
  })
  const headers = { 'x-own': 'here' }
  const client = createClient({ baseUrl: `${url}/`, apiKey: 'key', headers })
  assert.deepEqual(await client.models(), { unknown_field: [1] }, 'of a later version')
  const submission = { input: { prompts: ['a', 'b'], file_id: 'file_1' } }
  const one = 'req_1'
  const failed = {
    status: 'FAILED',
    createdFrom: new Date('2026-01-31T12:00:00+01:00'),
    createdBefore: '2026-02-01T00:00:00+01:00',
  } as const
  const requests = '/v1/queue/requests'
  const calls: [call: () => Promise<unknown>, expected: string][] = [
    [() => client.file('a/b'), 'GET /v1/files/a%2Fb'],
    [
      () => client.submit(submission, { idempotencyKey: 'order-17' }),
      'POST /v1/queue/audio/separate {"input":{"prompts":["a","b"],"file_id":"file_1"}}',
    ],
    [
      () => client.status({ request_id: one }, { logs: true }),
      `GET ${requests}/req_1/status?logs=true`,
    ],
    [
      () => client.follow(one, { logs: true, intervalSeconds: 1 }).next(),
      `GET ${requests}/req_1/status/stream?logs=true&interval=1`,
    ],
    [() => client.result(one), `GET ${requests}/req_1/result`],
    [() => client.peaks(one), `GET ${requests}/req_1/peaks`],
    [() => client.cancel(one), `PUT ${requests}/req_1/cancel`],
    [() => client.delete(one), `DELETE ${requests}/req_1`],
    [() => client.deleteFile('a/b'), 'DELETE /v1/files/a%2Fb'],
    [() => client.list({ limit: 3, cursor: 'a&b' }), `GET ${requests}?limit=3&cursor=a%26b`],
    [
      () => client.list(failed),
      `GET ${requests}?limit=20&cursor=&status=FAILED&created_from=2026-01-31T11%3A00%3A00.000Z` +
        '&created_before=2026-02-01T00%3A00%3A00%2B01%3A00',
    ],
    [() => client.redeliver(one), `POST ${requests}/req_1/webhook/redeliver`],
    [() => client.deliveryAttempts(one), `GET ${requests}/req_1/webhook/attempts`],
    [() => client.share(one), `POST ${requests}/req_1/shares {}`],
    [
      () => client.share({ request_id: one }, { expiresInSeconds: 60 }),
      `POST ${requests}/req_1/shares {"expires_in":60}`,
    ],
    [() => client.shares(), 'GET /v1/shares'],
    [() => client.revokeShare('a/b'), 'DELETE /v1/shares/a%2Fb'],
    [() => client.shared(), 'GET /v1/shared'],
    [
      () => client.testWebhook({ webhookUrl: 'https://hooks.example/in' }),
      'POST /v1/webhook-test {"webhookUrl":"https://hooks.example/in"}',
    ],
    [() => client.listFiles({ limit: 3, cursor: 'a&b' }), 'GET /v1/files?limit=3&cursor=a%26b'],
    [() => client.account(), 'GET /v1/account'],
    [
      () => client.usage({ from: '2026-01-30', to: '2026-01-31' }),
      'GET /v1/account/usage?from=2026-01-30&to=2026-01-31',
    ],
    [() => client.usage(), 'GET /v1/account/usage'],
  ]
  for (const [call, expected] of calls) {
    await call()
    assert.equal(seen, expected)
  }
  assert.deepEqual(keys, ['order-17'])
})

test('client: no other address gets the key', async (t) => {
  const seen: { call: string; names: string[]; type: string | undefined }[] = []
  const elsewhere = await serve(t, (request, reply) => {
    const { 'content-type': type, ...others } = request.headers
    seen.push({ call: `${request.method} ${request.url}`, names: Object.keys(others), type })
    request.resume().on('end', () => reply.end('sound'))
  })
  const place = { upload_url: `${elsewhere.url}/bucket`, upload_method: 'PUT' }
  const { url } = await serve(t, (request, reply) => {
    assert.equal(request.headers.authorization, 'Bearer key')
    const headers = { 'content-type': 'audio/x-caf' }
    request.resume().on('end', () => {
      reply.end(JSON.stringify({ file_id: 'file_1', ...place, headers }))
    })
  })
  const client = createClient({ baseUrl: url, apiKey: 'key', headers: { 'x-own': 'here' } })
  const path = join(temporaryFolder(t), 'a.caf')
  const bytes = new Blob([FILE_BYTES])
  const file = { ...createFileBody(), purpose: 'audio.separate.input' } as const
  await writeFile(path, FILE_BYTES)
  await client.upload(path, 'audio/x-caf')
  await client.uploadBlob({ name: 'a.caf', contentType: 'audio/x-caf', bytes })
  await client.send(await client.createFile(file), bytes)
  await client.download(`${elsewhere.url}/signed`, path)
  const calls = seen.map(({ call }) => call)
  assert.deepEqual(calls, [...Array<string>(3).fill('PUT /bucket'), 'GET /signed'])
  for (const { call, names, type } of seen) {
    assert.ok(!names.includes('authorization') && !names.includes('x-own'), `${call}: ${names}`)
    assert.equal(type, call.startsWith('PUT') ? 'audio/x-caf' : undefined)
  }
})

test('client: media is sent from a file, from memory or as a stream, with its progress', async (t) => {
  const { client, path } = await start(t)
  const halves = [Buffer.alloc(2 ** 19), Buffer.alloc(2 ** 19)]
  await writeFile(path, Buffer.concat(halves))
  const media = { name: 'concert.m4a', contentType: 'audio/mp4' }
  const file = {
    ...createFileBody({ file_size: 2 ** 20 }),
    purpose: 'audio.separate.input',
  } as const
  for (const upload of [
    (onProgress: (part: number) => void) => client.upload(path, 'audio/mp4', onProgress),
    (onProgress: (part: number) => void) =>
      client.uploadBlob({ ...media, bytes: new Blob(halves) }, onProgress),
  ]) {
    const parts: number[] = []
    const fileId = await upload((part) => parts.push(part))
    assert.equal((await client.file(fileId)).status, 'uploaded')
    assert.ok(parts.length > 1, 'it comes more than once')
    assert.deepEqual(parts, [...new Set(parts)].sort(), 'it grows')
    assert.equal(parts.at(-1), 1)
  }
  const created = await client.createFile(file)
  await client.send(created, ReadableStream.from(halves))
  assert.equal((await client.file(created.file_id)).status, 'uploaded')
})

test('client: following continues on a new stream when one ends', async (t) => {
  const { gateway, path, client } = await start(t, { config: { streamWindowSeconds: 0.1 } })
  const fileId = await client.upload(path, 'audio/mp4')
  const submitted = await client.submit({ input: { prompt: 'a bell', file_id: fileId } })
  await gateway.publish()
  const seen: string[] = []
  for await (const { status, logs } of client.follow(submitted, { logs: true })) {
    assert.ok(logs, 'logs were asked for')
    seen.push(status)
    if (seen.length === 2) await client.cancel(submitted) // the second comes from another stream
  }
  assert.deepEqual(seen.slice(0, 2), ['IN_QUEUE', 'IN_QUEUE'])
  assert.equal(seen.at(-1), 'FAILED')
  await assert.rejects(client.wait(submitted), { name: 'ApiError', code: 'CANCELED' })
})

const completed: RequestListener = (_, reply) =>
  void reply.end('event: status\ndata: {"status":"COMPLETED"}\n\n')
const event =
  (name: string, data: object): RequestListener =>
  (_, reply) =>
    reply
      .writeHead(200, { 'content-type': 'text/event-stream' })
      .end(`event: ${name}\ndata: ${JSON.stringify(data)}\n\n`)
const fails =
  (code: number, headers = {}): RequestListener =>
  (_, reply) =>
    reply.writeHead(code, headers).end('away')

test('client: following survives a service that is down, busy or restarting', async (t) => {
  const hangsUp: RequestListener = (_, reply) => reply.destroy()
  const { url, requests } = await serve(
    t,
    fails(502),
    hangsUp,
    fails(429),
    event('status', { status: 'COMPLETED' }),
  )
  const client = createClient({ baseUrl: url, apiKey: 'key' })
  const seen = []
  for await (const { status } of client.follow('req_1')) seen.push(status)
  assert.deepEqual([seen, requests()], [['COMPLETED'], 4])
})

test('client: following waits as long as Retry-After says', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { url, requests } = await serve(
    t,
    fails(429, { 'retry-after': '7' }),
    event('status', { status: 'COMPLETED' }),
  )
  const next = createClient({ baseUrl: url, apiKey: 'key' }).follow('req_1').next()
  while (requests() === 0) await new Promise(setImmediate)
  let waited = 0
  for (; requests() === 1; waited += 1_000) {
    for (let turn = 0; turn < 100; turn += 1) await new Promise(setImmediate)
    t.mock.timers.tick(1_000)
  }
  assert.equal((await next).value?.status, 'COMPLETED')
  assert.ok(waited >= 7_000, `${waited} ms`)
})

test("client: following ends with the service's error", async (t) => {
  const error = { code: 'NOT_FOUND', message: 'Gone.' }
  const failing = await serve(t, event('error', { error }))
  const unknown = await serve(t, fails(404))
  for (const [{ url, requests }, code] of [
    [failing, 'NOT_FOUND'],
    [unknown, 'HTTP_404'],
  ] as const) {
    await assert.rejects(createClient({ baseUrl: url, apiKey: 'key' }).follow('req_1').next(), {
      code,
    })
    assert.equal(requests(), 1)
  }
})

test('client: a refusal is an ApiError with code, field and status', async (t) => {
  const { gateway, address, client } = await start(t)
  const wrong = client.submit({ input: { prompt: '', file_id: 'file_1' } })
  await assert.rejects(wrong, { code: 'INVALID_PARAMETER', param: 'input.prompt', status: 400 })
  await assert.rejects(client.status('a/../b'), { code: 'NOT_FOUND', status: 404 })
  const nobody = createClient({ baseUrl: address, apiKey: undefined })
  await assert.rejects(
    nobody.models(),
    (error) => error instanceof ApiError && error.status === 401,
  )
  await gateway.app.close()
  await assert.rejects(client.models(), UnreachableError)
})

test('client: its signal aborts whatever it is doing', async (t) => {
  const { gateway, address, path, client } = await start(t)
  const fileId = await client.upload(path, 'audio/mp4')
  const submitted = await client.submit({ input: { prompt: 'a bell', file_id: fileId } })
  const controller = new AbortController()
  const mine = createClient({ baseUrl: address, apiKey: gateway.key, signal: controller.signal })
  const following = mine.follow(submitted)
  await following.next()
  controller.abort()
  await assert.rejects(following.next(), { name: 'AbortError' })
  assert.equal((await mine.cancel(submitted)).status, 'FAILED')
})
