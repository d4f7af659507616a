import assert from 'node:assert/strict'
import test from 'node:test'
import { fc } from '../support/basics/property.ts'
import { assertError } from '../support/gateway/assert-shape.ts'
import { API, FILE_BYTES, startGateway } from '../support/gateway/start-gateway.ts'

test('8 the fields of a file have limits: file_size is from 1 to 524288000', async (t) => {
  const gateway = await startGateway(t)
  const create = (fields: object) => gateway.createFile(fields)
  const refused = async (fields: object, ...error: [Parameters<typeof assertError>[1], string]) =>
    assertError(await create(fields), ...error)
  for (const file_size of [1, 524_288_000]) {
    assert.equal((await create({ file_size })).statusCode, 201)
  }
  for (const file_size of [0, -1, 524_288_001]) {
    await refused({ file_size }, 'INVALID_PARAMETER', 'file_size')
  }
  for (const file_size of ['8', 1.5, null, undefined]) {
    await refused({ file_size }, 'INVALID_REQUEST', 'file_size')
  }
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
    assert.equal((await create({ content_type })).statusCode, 201, content_type)
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
  const file_id = await gateway.uploadFile()
  const send = (input: object) => gateway.submit({ file_id, ...input })
  for (const [field, inside, outside] of LIMITS) {
    for (const value of inside) {
      const reply = await send({ [field]: value })
      assert.equal(reply.statusCode, 202, `${field} ${value}: ${reply.body}`)
    }
    for (const value of outside) {
      assertError(await send({ [field]: value }), 'INVALID_PARAMETER', `input.${field}`)
    }
  }
})

test('8 webhookSecret has 16 to 256 characters, metadata 16 KiB as JSON', async (t) => {
  const gateway = await startGateway(t)
  const file_id = await gateway.uploadFile()
  const send = (fields: object) =>
    gateway.submit({ file_id }, { webhookUrl: 'https://a.example/', ...fields })
  for (const webhookSecret of ['x'.repeat(16), 'x'.repeat(256), '🎻'.repeat(256)]) {
    assert.equal((await send({ webhookSecret })).statusCode, 202, webhookSecret)
  }
  for (const webhookSecret of ['', 'x'.repeat(15), 'x'.repeat(257)]) {
    assertError(await send({ webhookSecret }), 'INVALID_PARAMETER', 'webhookSecret')
  }
  const metadata = (bytes: number) => ({ metadata: { x: 'ü'.repeat((bytes - 8) / 2) } })
  assert.equal((await send(metadata(16_384))).statusCode, 202)
  assertError(await send(metadata(16_386)), 'INVALID_PARAMETER', 'metadata')
  const webhookUrl = `https://a.example/${'x'.repeat(2_048)}`
  assertError(await send({ webhookUrl }), 'INVALID_PARAMETER', 'webhookUrl')
})

test('8 any chunk_overlap within its limits is accepted with any max_chunk_duration', async (t) => {
  const gateway = await startGateway(t)
  for (const [max_chunk_duration, chunk_overlap] of [
    [10, 30],
    [0.001, 30],
    [300, 0],
  ]) {
    const requestId = await gateway.submitted({ max_chunk_duration, chunk_overlap })
    assert.equal(gateway.broker.jobOf(requestId).options.chunk_overlap, chunk_overlap)
  }
})

test('a body may have at most 10,000 values, so that reading it twice is bounded', async (t) => {
  const gateway = await startGateway(t)
  const input = { prompt: 'x', file_id: await gateway.uploadFile() }
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

/** Text of characters that headers, file names and databases each treat differently. */
const anyText = fc.string({
  unit: fc.oneof(
    fc.constantFrom(
      '\0',
      '\t',
      '\n',
      '\r',
      '\u007f',
      '\u0085',
      '"',
      '\\',
      '/',
      ';',
      '%',
      '\ud800',
      '\udc00',
    ),
    fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
    fc.constantFrom('a', '.', ' ', 'é', '音', '🎻'),
  ),
  maxLength: 30,
})

const anyMediaType = fc
  .tuple(
    fc.constantFrom('audio/mp4', 'video/webm', 'AUDIO/x-m4a'),
    fc.oneof(
      anyText,
      fc.constant(''),
      anyText.map((text) => `;${text}`),
      anyText.map((text) => `\n; a=${text}`),
    ),
  )
  .map((parts) => parts.join(''))

test('2.4 every name that create-file accepts can be downloaded, with headers that state it', async (t) => {
  const gateway = await startGateway(t)
  let accepted = 0
  await fc.assert(
    fc.asyncProperty(anyText, anyMediaType, async (file_name, content_type) => {
      const created = await gateway.createFile({ file_name, content_type })
      if (created.statusCode !== 201) {
        assert.ok([400, 415].includes(created.statusCode), created.body)
        return
      }
      accepted += 1
      const { file_id: fileId, upload_url: url } = created.json()
      const file = (await gateway.call('GET', `/v1/files/${fileId}`)).json()
      assert.equal(file.file_name, file_name, 'it is kept unchanged')
      assert.equal((await gateway.call('PUT', url, { body: FILE_BYTES })).statusCode, 200)
      const download = await gateway.disk.downloadUrl({
        key: `inputs/${fileId}`,
        audience: 'engine',
        fileName: file_name,
        expiresAt: gateway.clock.now() + 1_000,
      })
      const reply = await gateway.call('GET', download)
      assert.equal(reply.statusCode, 200, reply.body)
      assert.equal(reply.headers['content-type'], content_type)
      const disposition = String(reply.headers['content-disposition'])
      assert.match(disposition, /^attachment; filename[\x20-\x7e\xa0-\xff]+$/)
    }),
    { numRuns: 150 },
  )
  assert.ok(accepted >= 10, `${accepted} accepted`)
})

test('2.6 text with U+0000, or with half a surrogate pair, is refused, naming its field', async (t) => {
  const gateway = await startGateway(t)
  const file_id = await gateway.uploadFile()
  const body = { input: { prompt: 'x', file_id }, webhookUrl: 'https://a.example/' }
  for (const unfit of ['a\0b', 'a\ud800', '\udc00b']) {
    const cases: [body: object, param: string][] = [
      [{ ...body, input: { ...body.input, prompt: unfit } }, 'input.prompt'],
      [{ ...body, input: { prompt: 'x', file_id: unfit } }, 'input.file_id'],
      [
        { ...body, input: { prompt: 'x', audio_url: `https://a.example/${unfit}` } },
        'input.audio_url',
      ],
      [{ ...body, webhookUrl: `https://a.example/${unfit}` }, 'webhookUrl'],
      [{ ...body, webhookSecret: `${unfit}0123456789abcdef` }, 'webhookSecret'],
      [{ ...body, metadata: { a: [{ b: unfit }] } }, 'metadata.a[0].b'],
      [{ ...body, metadata: { a: { [unfit]: 1 } } }, 'metadata.a'],
    ]
    for (const [submission, param] of cases) {
      assertError(
        await gateway.call('POST', `${API}/audio/separate`, { body: submission }),
        'INVALID_PARAMETER',
        param,
      )
    }
    const reply = await gateway.createFile({ file_name: unfit })
    assertError(reply, 'INVALID_PARAMETER', 'file_name')
  }
})

test('2.7 the file name taken from an address has a limited length, and no control characters', async (t) => {
  const gateway = await startGateway(t)
  await gateway.submitted({ audio_url: `https://a.example/a%00b%0A${'c'.repeat(900)}.wav` })
  const [row] = await gateway.store.selectFrom('requests').select('file_name').execute()
  assert.equal(row?.file_name, `a_b_${'c'.repeat(251)}`)
  const audio_url = `https://a.example/?${'ü'.repeat(8_173)}`
  assert.equal(audio_url.length, 8_192)
  await gateway.submitted({ audio_url: ` ${audio_url}\n` })
  assert.equal(gateway.broker.jobs.size, 2, 'blanks around it do not count')
  const tooLong = await gateway.submit({ audio_url: `${audio_url}c` })
  assertError(tooLong, 'INVALID_PARAMETER', 'input.audio_url')
})
