/**
 * Text that clients send: whatever is accepted can be stored in any database and sent in any
 * header.
 */

import assert from 'node:assert/strict'
import test from 'node:test'
import { assertError } from '../support/gateway/assert-shape.ts'
import { fc } from '../support/basics/property.ts'
import {
  API,
  createFileBody,
  FILE_BYTES,
  startGateway,
  submit,
  submitted,
  uploadFile,
} from '../support/gateway/start-gateway.ts'

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
      const created = await gateway.call('POST', '/v1/files', {
        body: createFileBody({ file_name, content_type }),
      })
      if (created.statusCode !== 201) {
        assert.ok([400, 415].includes(created.statusCode), created.body)
        return
      }
      accepted += 1
      const { file_id: fileId, upload_url: url } = created.json()
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
  const file_id = await uploadFile(gateway)
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
    const reply = await gateway.call('POST', '/v1/files', {
      body: createFileBody({ file_name: unfit }),
    })
    assertError(reply, 'INVALID_PARAMETER', 'file_name')
  }
})

test('4 an impossible id is unknown, and not echoed', async (t) => {
  const gateway = await startGateway(t)
  for (const id of ['%00', 'a%0Ab', 'x'.repeat(4_000), '%F0%9F%8E%BB']) {
    for (const url of [
      `/v1/files/${id}`,
      `${API}/requests/${id}/status`,
      `${API}/requests/${id}/result`,
    ]) {
      const reply = await gateway.call('GET', url)
      assertError(reply, 'NOT_FOUND')
      assert.ok(reply.body.length < 300, reply.body)
    }
  }
  const huge = await gateway.call('POST', `${API}/audio/separate`, {
    body: { input: { prompt: 'x', file_id: 'f', ['y'.repeat(100_000)]: 1 } },
  })
  assert.equal(huge.statusCode, 400)
  assert.ok(huge.body.length < 1_000, `${huge.body.length} bytes`)
})

test('2.7 the file name taken from an address has a limited length, and no control characters', async (t) => {
  const gateway = await startGateway(t)
  await submitted(gateway, { audio_url: `https://a.example/a%00b%0A${'c'.repeat(900)}.wav` })
  const [row] = await gateway.store.selectFrom('requests').select('file_name').execute()
  assert.equal(row?.file_name, `a_b_${'c'.repeat(251)}`)
  const audio_url = `https://a.example/?${'ü'.repeat(8_173)}`
  assert.equal(audio_url.length, 8_192)
  await submitted(gateway, { audio_url: ` ${audio_url}\n` })
  assert.equal(gateway.broker.jobs.size, 2, 'blanks around it do not count')
  const tooLong = await submit(gateway, { audio_url: `${audio_url}c` })
  assertError(tooLong, 'INVALID_PARAMETER', 'input.audio_url')
})
