import assert from 'node:assert/strict'
import { connect } from 'node:net'
import test from 'node:test'
import { ServiceError, type ErrorCode } from '../../shared/errors.ts'
import { createPublicPost } from '../../gateway/webhooks/public-post.ts'
import { assertError } from '../support/gateway/assert-shape.ts'
import { API, byAnother, startGateway } from '../support/gateway/start-gateway.ts'
import { loseTable } from '../support/database/test-database.ts'

const SUBMIT = `${API}/audio/separate`
const input = { prompt: 'a bell', file_id: 'file_1' }

/** Bodies that endpoint 5 refuses, with the code and the field. */
const REFUSED: [body: unknown, code: ErrorCode, param?: string][] = [
  [[], 'INVALID_REQUEST'],
  [{}, 'INVALID_REQUEST', 'input'],
  [{ input: null }, 'INVALID_REQUEST', 'input'],
  [{ input: { file_id: 'file_1' } }, 'INVALID_REQUEST', 'input.prompt'],
  [{ input: { ...input, prompt: 3 } }, 'INVALID_REQUEST', 'input.prompt'],
  [{ input: { ...input, prompt: null } }, 'INVALID_REQUEST', 'input.prompt'],
  [
    { input: { ...input, reranking_candidates: '3' } },
    'INVALID_REQUEST',
    'input.reranking_candidates',
  ],
  [
    { input: { ...input, reranking_candidates: 1.5 } },
    'INVALID_REQUEST',
    'input.reranking_candidates',
  ],
  [{ input: { ...input, predict_spans: 'true' } }, 'INVALID_REQUEST', 'input.predict_spans'],
  [{ input: { ...input, acceleration: 3 } }, 'INVALID_REQUEST', 'input.acceleration'],
  [{ input: { ...input, acceleration: 'slow' } }, 'INVALID_PARAMETER', 'input.acceleration'],
  [{ input: { ...input, output_format: 'WAV' } }, 'INVALID_PARAMETER', 'input.output_format'],
  [{ input: { ...input, promt: 'x' } }, 'INVALID_REQUEST', 'input.promt'],
  [{ input: { ...input, spans: {} } }, 'INVALID_REQUEST', 'input.spans'],
  [{ input: { ...input, spans: [{ start: 1 }] } }, 'INVALID_REQUEST', 'input.spans[0].end'],
  [
    { input: { ...input, spans: [{ start: null, end: 1 }] } },
    'INVALID_REQUEST',
    'input.spans[0].start',
  ],
  [
    {
      input: {
        ...input,
        spans: [
          { start: 0, end: 1 },
          { start: 0, end: 1, inclued: true },
        ],
      },
    },
    'INVALID_REQUEST',
    'input.spans[1].inclued',
  ],
  [
    { input: { ...input, spans: [{ start: 2, end: 2 }] } },
    'INVALID_PARAMETER',
    'input.spans[0].end',
  ],
  [{ input: { prompt: 'x' } }, 'INVALID_PARAMETER', 'input.audio_url'],
  [{ input: { ...input, audio_url: 'https://a.example/' } }, 'INVALID_PARAMETER', 'input.file_id'],
  [{ input: { prompt: 'x', audio_url: 'not a url' } }, 'INVALID_AUDIO_URL', 'input.audio_url'],
  [{ input, webhookUrl: 7 }, 'INVALID_REQUEST', 'webhookUrl'],
  [{ input, webhookSecret: 'short' }, 'INVALID_PARAMETER', 'webhookSecret'],
  [{ input, metadata: 'x' }, 'INVALID_REQUEST', 'metadata'],
  [{ input, metadata: [] }, 'INVALID_REQUEST', 'metadata'],
  [{ input: { ...input, file_id: 'file_unknown' } }, 'INVALID_PARAMETER', 'input.file_id'],
]

test('7.3 endpoint 5 answers 400 with the field that is wrong', async (t) => {
  const gateway = await startGateway(t)
  for (const [body, code, param] of REFUSED) {
    assertError(await gateway.call('POST', SUBMIT, { body }), code, param)
  }
  assert.deepEqual(await gateway.rows('requests'), [])
})

test('7.3 metadata nested too deeply answers 400', async (t) => {
  const gateway = await startGateway(t)
  const fileId = await gateway.uploadFile()
  const submit = (levels: number) => {
    const list = '['.repeat(levels - 1) + ']'.repeat(levels - 1)
    const body = `{"input":{"prompt":"x","file_id":"${fileId}"},"metadata":{"a":${list}}}`
    return gateway.call('POST', SUBMIT, { headers: { 'content-type': 'application/json' }, body })
  }
  assert.equal((await submit(32)).statusCode, 202)
  for (const levels of [33, 2_000, 8_000]) {
    assertError(await submit(levels), 'INVALID_PARAMETER', 'metadata')
  }
  assertError(await submit(100_000), 'INVALID_REQUEST') // more values than a body may have
})

test('7.3 a webhookUrl that may not be posted to is refused', async (t) => {
  const { check } = createPublicPost({ allowCidrs: [], resolve: async () => [] })
  const gateway = await startGateway(t, { checkWebhookUrl: check })
  for (const webhookUrl of [
    'nonsense',
    'http://a.example/',
    'https://10.0.0.1/',
    'https://a.example/',
  ]) {
    const reply = await gateway.call('POST', SUBMIT, { body: { input, webhookUrl } })
    assertError(reply, 'INVALID_WEBHOOK_URL', 'webhookUrl')
  }
})

test('7.3 a body that is not JSON answers 400', async (t) => {
  const gateway = await startGateway(t)
  const json = { 'content-type': 'application/json' }
  for (const url of [SUBMIT, '/v1/files']) {
    for (const [body, headers] of [
      ['{"input"', json],
      ['', json],
      ['{}', { 'content-type': 'text/plain' }],
      ['a=1', { 'content-type': 'application/x-www-form-urlencoded' }],
      ['{}', {}],
    ] as const) {
      assertError(await gateway.call('POST', url, { body, headers }), 'INVALID_REQUEST')
    }
  }
})

test('7.4 a body over 256 KiB answers 413 on endpoint 5 only', async (t) => {
  const gateway = await startGateway(t)
  const body = { padding: 'x'.repeat(256 * 1024) }
  assertError(await gateway.call('POST', SUBMIT, { body }), 'PAYLOAD_TOO_LARGE')
  assertError(await gateway.call('POST', '/v1/files', { body }), 'INVALID_REQUEST')
  const huge = await gateway.submit({ file_id: 'f', ['y'.repeat(100_000)]: 1 })
  assert.equal(huge.statusCode, 400)
  assert.ok(huge.body.length < 1_000, `${huge.body.length} bytes: a name is not repeated whole`)
})

test("7.3 a file that is not uploaded yet, expired, or somebody else's is refused", async (t) => {
  const gateway = await startGateway(t)
  const created = await gateway.createFile()
  const file_id = created.json().file_id
  assertError(await gateway.submit({ file_id }), 'FILE_NOT_UPLOADED', 'input.file_id')
  const uploaded = await gateway.uploadFile()
  const other = await byAnother(gateway)
  assertError(await other.submit({ file_id: uploaded }), 'INVALID_PARAMETER', 'input.file_id')
  gateway.clock.advance(3_600_000)
  assertError(await gateway.submit({ file_id }), 'FILE_EXPIRED', 'input.file_id')
  gateway.clock.advance(86_400_000)
  assertError(await gateway.submit({ file_id: uploaded }), 'FILE_EXPIRED', 'input.file_id')
})

test("7.3 once a file's length is known, options that do not fit it are refused at submit", async (t) => {
  const gateway = await startGateway(t, { config: { mediaSecondsMax: 10 } })
  const [longer, file_id] = [await gateway.uploadFile(), await gateway.uploadFile()]
  const spans = [
    { start: 1, end: 20 },
    { start: 8, end: 9 },
  ]
  for (const [file, duration] of [
    [longer, 10.01],
    [file_id, 8],
  ] as const) {
    const requestId = await gateway.submitted({ file_id: file, spans }) // submitted while the length is unknown
    await gateway.event('measured', requestId, { duration })
  }
  const tooLong = await gateway.submit({ file_id: longer })
  assertError(tooLong, 'MEDIA_TOO_LONG')
  assert.match(tooLong.json().error.message, /lasts 10\.0 s or more; the limit is 10 s/)
  assertError(await gateway.submit({ file_id, spans }), 'INVALID_PARAMETER', 'input.spans[1].start')
  assert.equal((await gateway.submit({ file_id, spans: spans.slice(0, 1) })).statusCode, 202)
})

test('7.3 an audio_url that is wrong or cannot be fetched is refused at submit', async (t) => {
  const codes: ErrorCode[] = ['INVALID_AUDIO_URL', 'MEDIA_FETCH_FAILED']
  const gateway = await startGateway(t, {
    checkAudioUrl: async () => {
      const code = codes.shift()
      if (code) throw new ServiceError(code, { param: 'input.audio_url' })
    },
  })
  for (const code of [...codes]) {
    const refused = await gateway.submit({ audio_url: 'https://a.example/x.mp3' })
    assertError(refused, code, 'input.audio_url')
  }
  assert.deepEqual(gateway.logged('error'), [], 'neither is an error of the gateway')
})

test('7.3 a request that cannot be made durable answers 502', async (t) => {
  const gateway = await startGateway(t)
  const file_id = await gateway.uploadFile()
  await loseTable(gateway.store, 'outbox')
  assertError(await gateway.submit({ file_id }), 'QUEUE_UNAVAILABLE')
  assert.deepEqual(await gateway.rows('requests'), []) // all or nothing
})

test('7.3 the result of a request that is not completed answers 409 and says why', async (t) => {
  const gateway = await startGateway(t)
  const requestId = await gateway.submitted()
  const result = () => gateway.getResult(requestId)
  assertError(await result(), 'RESULT_NOT_READY')
  await gateway.event('started', requestId)
  assertError(await result(), 'RESULT_NOT_READY')
  const error = { code: 'NO_AUDIO_STREAM' as const, message: 'No audio.' }
  await gateway.event('failed', requestId, { error })
  assertError(await result(), 'REQUEST_FAILED')
  assert.match((await result()).json().error.message, /NO_AUDIO_STREAM.*No audio/)
  assert.equal((await result()).json().error.request_id, requestId)
})

/** Ids that no database stores, or that look like paths. */
const WEIRD = ['%00', 'a%0Ab', '..%2f..', '%F0%9F%8E%BB']

test('7.4 unknown ids and ids of another account answer the same 404', async (t) => {
  const gateway = await startGateway(t)
  const [fileId, requestId] = [await gateway.uploadFile(), await gateway.completed()]
  const { call: other } = await byAnother(gateway)
  const bodies = new Set<string>()
  for (const id of [requestId, 'req_unknown', 'x'.repeat(2_000), ...WEIRD]) {
    for (const part of ['status', 'status/stream', 'result']) {
      const reply = await other('GET', `${API}/requests/${id}/${part}`)
      assertError(reply, 'NOT_FOUND')
      bodies.add(reply.body)
    }
    assertError(await other('PUT', `${API}/requests/${id}/cancel`), 'NOT_FOUND')
    assertError(await other('DELETE', `${API}/requests/${id}`), 'NOT_FOUND')
  }
  assert.equal(bodies.size, 1)
  for (const id of [fileId, 'file_unknown', 'x'.repeat(2_000), ...WEIRD]) {
    const reply = await other('GET', `/v1/files/${id}`)
    assertError(reply, 'NOT_FOUND')
    assert.ok(reply.body.length < 300, reply.body)
    assertError(await other('DELETE', `/v1/files/${id}`), 'NOT_FOUND')
  }
  assert.equal((await gateway.call('GET', `/v1/files/${fileId}`)).statusCode, 200)
})

test('7.1 unknown paths and methods answer with an error object', async (t) => {
  const gateway = await startGateway(t)
  for (const url of ['/', '/v1', '/v1/models/', '/v2/models', '/v1/files/%', '/v1/queue']) {
    assertError(await gateway.call('GET', url), 'NOT_FOUND')
  }
  const reply = await gateway.call('PUT', '/v1/files/file_1')
  assertError(reply, 'METHOD_NOT_ALLOWED')
  assert.equal(reply.headers.allow, 'DELETE, GET, HEAD')
  assert.equal((await gateway.call('GET', SUBMIT)).headers.allow, 'POST')
  assert.equal((await gateway.call('HEAD', '/v1/models')).statusCode, 200)
})

test('7.1 a call without a body may declare JSON, as many clients do', async (t) => {
  const gateway = await startGateway(t)
  const headers = { 'content-type': 'application/json' }
  const fileId = await gateway.uploadFile()
  const requestId = await gateway.submitted()
  const statusOf = async (method: 'PUT' | 'DELETE' | 'POST', url: string) =>
    (await gateway.call(method, url, { headers })).statusCode
  assert.equal(await statusOf('PUT', `${API}/requests/${requestId}/cancel`), 202)
  assert.equal(await statusOf('DELETE', `${API}/requests/${requestId}`), 204)
  assert.equal(await statusOf('DELETE', `/v1/files/${fileId}`), 204)
  assert.equal(await statusOf('DELETE', '/playground/session'), 204)
  assertError(await gateway.call('POST', SUBMIT, { headers }), 'INVALID_REQUEST')
})

test('7.1 input that is not HTTP is answered with an error object', async (t) => {
  const gateway = await startGateway(t)
  const { port } = new URL(await gateway.listen())
  const socket = connect(Number(port), '127.0.0.1')
  socket.end('NONSENSE\r\n\r\n')
  const text = (await socket.setEncoding('utf8').toArray()).join('')
  assert.match(text, /^HTTP\/1\.1 400 /)
  assert.equal(JSON.parse(text.split('\r\n\r\n')[1] ?? '').error.code, 'INVALID_REQUEST')
})

test('7.3 an internal error answers 500 without details, and is logged', async (t) => {
  const gateway = await startGateway(t)
  await loseTable(gateway.store, 'files')
  const headers = { 'x-request-id': 'mine' }
  const reply = await gateway.call('GET', '/v1/files/file_1', { headers })
  assertError(reply, 'INTERNAL')
  assert.ok(!/files|table|sql/i.test(reply.body), reply.body)
  assert.equal(reply.headers['x-request-id'], 'mine')
  const [line, ...others] = gateway.logged('error')
  assert.deepEqual([line?.callId, line?.msg, others.length], ['mine', 'INTERNAL', 0])
  assert.match(line?.err.message, /no such table: files|relation "files" does not exist/)
})

test('extension: X-Request-Id is echoed, or made up if it is missing or invalid', async (t) => {
  const gateway = await startGateway(t)
  const idOf = async (headers: Record<string, string>) =>
    (await gateway.call('GET', '/v1/models', { headers })).headers['x-request-id']
  assert.equal(await idOf({ 'x-request-id': 'client-1.2:3' }), 'client-1.2:3')
  for (const requestId of ['', 'a b', 'x'.repeat(129), 'é']) {
    assert.match(String(await idOf({ 'x-request-id': requestId })), /^http_[0-9a-f]{32}$/)
  }
})
