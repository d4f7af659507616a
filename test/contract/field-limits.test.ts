import assert from 'node:assert/strict'
import test from 'node:test'
import { assertError } from '../support/gateway/assert-shape.ts'
import { API, createFileBody, startGateway, uploadFile } from '../support/gateway/start-gateway.ts'

const create = (fields: object) => ({ body: createFileBody(fields) })

test('8 file_size is from 1 to 524288000', async (t) => {
  const gateway = await startGateway(t)
  for (const file_size of [1, 524_288_000]) {
    assert.equal((await gateway.call('POST', '/v1/files', create({ file_size }))).statusCode, 201)
  }
  for (const file_size of [0, -1, 524_288_001]) {
    const reply = await gateway.call('POST', '/v1/files', create({ file_size }))
    assertError(reply, 'INVALID_PARAMETER', 'file_size')
  }
  for (const file_size of ['8', 1.5, null, undefined]) {
    const reply = await gateway.call('POST', '/v1/files', create({ file_size }))
    assertError(reply, 'INVALID_REQUEST', 'file_size')
  }
})

test('8 the other fields of a file have limits, too', async (t) => {
  const gateway = await startGateway(t)
  const refused = async (fields: object, ...error: [Parameters<typeof assertError>[1], string]) =>
    assertError(await gateway.call('POST', '/v1/files', create(fields)), ...error)
  await refused({ file_name: '' }, 'INVALID_PARAMETER', 'file_name')
  await refused({ file_name: 'x'.repeat(256) }, 'INVALID_PARAMETER', 'file_name')
  await refused({ purpose: 'other' }, 'INVALID_PARAMETER', 'purpose')
  for (const content_type of [
    'text/plain',
    '',
    'audio',
    'audio/',
    'xaudio/wav',
    'image/png',
    'application/pdf',
    'application/oggx',
    ...['audio/wav\r\nx: y', 'audio/wav\n;a=b', 'audio/wav;\n', 'audio/wav\u2028;a'],
    `audio/${'x'.repeat(300)}`,
  ]) {
    await refused({ content_type }, 'UNSUPPORTED_MEDIA_TYPE', 'content_type')
  }
  for (const content_type of [
    ...['audio/mpeg', 'Video/MP4', 'audio/ogg; codecs=opus', 'audio/x-m4a'],
    ...['application/ogg', 'Application/Octet-Stream', 'application/ogg; codecs=vorbis'],
    ...['audio/wav ;\tcodecs="1"', 'video/webm;codecs=vp9,opus'],
  ]) {
    const reply = await gateway.call('POST', '/v1/files', create({ content_type }))
    assert.equal(reply.statusCode, 201)
  }
})

/** Values at the limits in part 8 of the contract: just inside and just outside. */
const LIMITS: [field: string, inside: unknown[], outside: unknown[]][] = [
  [
    'prompt',
    ['x', 'x'.repeat(500), ` ${'🎻'.repeat(500)} `, 'e\u0301'.repeat(500)], // 500 characters in NFC
    ['', ' \n', 'x'.repeat(501), '👩‍🎤'.repeat(167)],
  ], // to the eye one character, but three code points
  ['reranking_candidates', [1, 8], [0, 9]],
  ['max_chunk_duration', [Number.MIN_VALUE, 0.01, 300], [0, -1, 300.01]],
  ['chunk_overlap', [0, 30], [-0.01, 30.01]],
  ['audio_track', [1, 256], [0, 257]],
  [
    'separator',
    ['auto', 'x', '6s', 'htdemucs_6s', 'a.b-c', 'x'.repeat(40)],
    ['', 'x'.repeat(41), 'HTDemucs', '-x', '../x', 'a b', 'ü', 'mini\n'],
  ],
  ['spans', [[], Array(64).fill({ start: 0, end: 1 })], [Array(65).fill({ start: 0, end: 1 })]],
]

test('8 the options are accepted up to their limits and not beyond', async (t) => {
  const gateway = await startGateway(t)
  const file_id = await uploadFile(gateway)
  const submit = (input: object) =>
    gateway.call('POST', `${API}/audio/separate`, {
      body: { input: { prompt: 'x', file_id, ...input } },
    })
  for (const [field, inside, outside] of LIMITS) {
    for (const value of inside) {
      const reply = await submit({ [field]: value })
      assert.equal(reply.statusCode, 202, `${field} ${value}: ${reply.body}`)
    }
    for (const value of outside) {
      assertError(await submit({ [field]: value }), 'INVALID_PARAMETER', `input.${field}`)
    }
  }
})

test('8 webhookSecret has 16 to 256 characters, metadata 16 KiB as JSON', async (t) => {
  const gateway = await startGateway(t)
  const input = { prompt: 'x', file_id: await uploadFile(gateway) }
  const submit = (fields: object) =>
    gateway.call('POST', `${API}/audio/separate`, {
      body: { input, webhookUrl: 'https://a.example/', ...fields },
    })
  for (const webhookSecret of ['x'.repeat(16), 'x'.repeat(256), '🎻'.repeat(256)]) {
    assert.equal((await submit({ webhookSecret })).statusCode, 202, webhookSecret)
  }
  for (const webhookSecret of ['', 'x'.repeat(15), 'x'.repeat(257)]) {
    assertError(await submit({ webhookSecret }), 'INVALID_PARAMETER', 'webhookSecret')
  }
  const metadata = (bytes: number) => ({ metadata: { x: 'ü'.repeat((bytes - 8) / 2) } })
  assert.equal((await submit(metadata(16_384))).statusCode, 202)
  assertError(await submit(metadata(16_386)), 'INVALID_PARAMETER', 'metadata')
  const webhookUrl = `https://a.example/${'x'.repeat(2_048)}`
  assertError(await submit({ webhookUrl }), 'INVALID_PARAMETER', 'webhookUrl')
})

test('8 any chunk_overlap within its limits is accepted with any max_chunk_duration', async (t) => {
  const gateway = await startGateway(t)
  const file_id = await uploadFile(gateway)
  for (const [max_chunk_duration, chunk_overlap] of [
    [10, 30],
    [10, 10],
    [0.001, 30],
    [300, 0],
  ]) {
    const reply = await gateway.call('POST', `${API}/audio/separate`, {
      body: { input: { prompt: 'x', file_id, max_chunk_duration, chunk_overlap } },
    })
    assert.equal(reply.statusCode, 202, reply.body)
    await gateway.publish()
    const { options } = gateway.broker.jobOf(reply.json().request_id)
    assert.equal(options.chunk_overlap, chunk_overlap)
  }
})

test('a body may have at most 10,000 values, so that reading it twice is bounded', async (t) => {
  const gateway = await startGateway(t)
  const input = { prompt: 'x', file_id: await uploadFile(gateway) }
  const send = (url: string, values: number) => {
    const ignored = Array.from({ length: values }, () => 1)
    return gateway.call('POST', url, { body: { input, ignored } })
  }
  const url = `${API}/audio/separate`
  // The body, input with its two fields, and the list count as values too.
  assert.equal((await send(url, 10_000 - 5)).statusCode, 202)
  for (const refused of [await send(url, 10_000), await send('/v1/files', 100_000)]) {
    assertError(refused, 'INVALID_REQUEST')
    assert.match(refused.json().error.message, /more than 10000 values/)
  }
})
