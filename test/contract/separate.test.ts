/** One call with a file and its prompt: docs/decisions/api.md. */

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import test, { type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { LIMITS } from '../../shared/separation-options.ts'
import { ServiceError } from '../../shared/errors.ts'
import {
  FILE_BYTES,
  type Gateway,
  type GatewayOptions,
  startGateway,
} from '../support/gateway/start-gateway.ts'
import { heldMedia, NO_MEDIA } from '../support/gateway/stored.ts'

type Field = [name: string, value: string | Blob, fileName?: string]

const FILE: Field = ['file', new Blob([FILE_BYTES], { type: 'audio/mp4' }), 'concert.m4a']
const PROMPT: Field = ['prompt', 'a bell']

async function start(t: TestContext, options: GatewayOptions = {}) {
  const gateway = await startGateway(t, options)
  const address = await gateway.listen()
  const send = async (
    body: FormData | string | ReadableStream,
    key: string,
    headers: Record<string, string>,
  ) => {
    const reply = await fetch(`${address}/v1/audio/separate`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, ...headers },
      body,
      duplex: 'half',
    })
    return { status: reply.status, headers: reply.headers, body: (await reply.json()) as any }
  }
  const post = (
    fields: Field[],
    { key = gateway.key, headers = {} }: { key?: string; headers?: Record<string, string> } = {},
  ) => {
    const body = new FormData()
    for (const [name, value, fileName] of fields) {
      if (typeof value === 'string') body.append(name, value)
      else body.append(name, value, fileName)
    }
    return send(body, key, headers)
  }
  /** Posts raw bytes; by default they are a form whose boundary is b. */
  const postRaw = (body: string | ReadableStream, type = FORM, headers: object = {}) =>
    send(body, gateway.key, { 'content-type': type, ...headers })
  return { gateway, address, post, postRaw }
}

const FORM = 'multipart/form-data; boundary=b'
const part = (header: string, text: string) =>
  `--b\r\nContent-Disposition: form-data; ${header}\r\n\r\n${text}\r\n`
const PROMPT_PART = part('name="prompt"', 'a bell')
/** Has no content type, like an open file sent by Python's requests. */
const FILE_PART = part('name="file"; filename="song.flac"', FILE_BYTES.toString())

const HALF_A_FORM = (PROMPT_PART + FILE_PART).slice(0, -6)

/** Sends half of a form and nothing more. @param bytes the length that it states */
function sendHalf(address: string, key: string, bytes: number): Socket {
  const socket = connect(Number(new URL(address).port), '127.0.0.1')
  socket.write(
    `POST /v1/audio/separate HTTP/1.1\r\nHost: x\r\nContent-Length: ${bytes}\r\n` +
      `Authorization: Bearer ${key}\r\nContent-Type: ${FORM}\r\n\r\n${HALF_A_FORM}`,
  )
  return socket
}

type PostAnswer = Awaited<ReturnType<Awaited<ReturnType<typeof start>>['post']>>

function assertRefused({ status, body }: PostAnswer, code: string, param?: string): void {
  assert.deepEqual([body.error?.code, body.error?.param], [code, param], JSON.stringify(body))
  assert.ok(status >= 400)
}

test('a file and its prompt in one call are a submit', async (t) => {
  const { gateway, post } = await start(t)
  const { status, body } = await post([
    PROMPT,
    ['prompt', 'a dog'],
    ['max_chunk_duration', '12.5'],
    ['predict_spans', 'true'],
    ['spans', '[{"start":0,"end":1}]'],
    ['output_format', 'flac'],
    ['metadata', '{"take": 12345678901234567890}'],
    FILE,
  ])
  assert.equal(status, 202, JSON.stringify(body))
  assert.equal(body.status, 'IN_QUEUE')
  assert.deepEqual(await heldMedia(gateway), { files: 1, bytes: FILE_BYTES.length })
  await gateway.publish()
  const job = gateway.broker.jobOf(body.request_id)
  assert.equal(job.prompt, 'a bell')
  const { further_prompts, max_chunk_duration, predict_spans, spans, output_format } = job.options
  assert.deepEqual(
    { further_prompts, max_chunk_duration, predict_spans, spans, output_format },
    {
      further_prompts: ['a dog'],
      max_chunk_duration: 12.5,
      predict_spans: true,
      spans: [{ start: 0, end: 1, include: true }],
      output_format: 'flac',
    },
  )
  const media = await gateway.call('GET', job.source.url)
  assert.equal(media.body, FILE_BYTES.toString())
  const [row] = await gateway.rows('requests')
  assert.equal(row?.metadata, '{"take":12345678901234567890}')
  assert.equal(row?.file_name, 'concert.m4a')
})

test('without a file, the call accepts the other sources', async (t) => {
  const { post } = await start(t)
  const { status, body } = await post([PROMPT, ['audio_url', 'https://example.com/a.wav']])
  assert.equal(status, 202, JSON.stringify(body))
  assertRefused(await post([PROMPT]), 'INVALID_PARAMETER', 'input.audio_url')
  const both = await post([PROMPT, ['audio_url', 'https://example.com/a.wav'], FILE])
  assertRefused(both, 'INVALID_PARAMETER', 'input.file_id')
})

test('an invalid call is refused with the reason, and nothing is stored', async (t) => {
  const { gateway, post } = await start(t)
  const refusals: [Field[], string, string?][] = [
    [[FILE], 'INVALID_REQUEST', 'input.prompt'],
    [[PROMPT, FILE, FILE], 'INVALID_REQUEST', 'file'],
    [[PROMPT, FILE, ...Array<Field>(70).fill(PROMPT)], 'INVALID_REQUEST'],
    [[PROMPT, ['file', 'text']], 'INVALID_REQUEST', 'file'],
    [[PROMPT, ['media', FILE[1], 'a.wav']], 'INVALID_REQUEST', 'media'],
    [[PROMPT, ['file', new Blob([]), 'a.wav']], 'INVALID_REQUEST'],
    [[PROMPT, ['max_chunk_duration', 'long'], FILE], 'INVALID_REQUEST', 'input.max_chunk_duration'],
    [[PROMPT, ['max_chunk_duration', ''], FILE], 'INVALID_REQUEST', 'input.max_chunk_duration'],
    [[PROMPT, ['predict_spans', 'yes'], FILE], 'INVALID_REQUEST', 'input.predict_spans'],
    [[PROMPT, ['spans', '[{'], FILE], 'INVALID_REQUEST', 'spans'],
    [[PROMPT, ['file_id', 'file_1'], FILE], 'INVALID_PARAMETER', 'input.file_id'],
    [[PROMPT, ['colour', 'red'], FILE], 'INVALID_REQUEST', 'input.colour'],
    [[PROMPT, ['separator', 'x'], ['separator', 'x'], FILE], 'INVALID_REQUEST', 'separator'],
    [
      [PROMPT, ['file', new Blob(['x'], { type: 'image/png' }), 'a.png']],
      'UNSUPPORTED_MEDIA_TYPE',
      'content_type',
    ],
    [[PROMPT, ['metadata', JSON.stringify(Array(10_001).fill(0))], FILE], 'INVALID_REQUEST'],
    [[PROMPT, ['metadata', 'x'.repeat(262_145)], FILE], 'PAYLOAD_TOO_LARGE'],
  ]
  for (const [fields, code, param] of refusals) assertRefused(await post(fields), code, param)
  assert.deepEqual(await heldMedia(gateway), NO_MEDIA)
})

test('the fields may follow the file', async (t) => {
  const { gateway, post } = await start(t)
  const { status, body } = await post([['output_format', 'flac'], FILE, PROMPT, ['separator', 'x']])
  assert.equal(status, 202, JSON.stringify(body))
  await gateway.publish()
  const { prompt, options } = gateway.broker.jobOf(body.request_id)
  assert.deepEqual([prompt, options.output_format, options.separator], ['a bell', 'flac', 'x'])
  assert.deepEqual(await heldMedia(gateway), { files: 1, bytes: FILE_BYTES.length })
})

test('a file without a type is accepted, as requests.post(files=…, data=…) sends it', async (t) => {
  const { gateway, postRaw } = await start(t)
  for (const type of ['', '\r\nContent-Type: text/plain']) {
    const file = part(`name="file"; filename="song.flac"${type}`, FILE_BYTES.toString())
    const { status, body } = await postRaw(`${PROMPT_PART}${file}--b--\r\n`)
    assert.equal(status, 202, JSON.stringify(body))
  }
  for (const { file_name, content_type, file_size } of await gateway.rows('files')) {
    assert.deepEqual(
      [file_name, content_type, file_size],
      ['song.flac', 'application/octet-stream', FILE_BYTES.length],
    )
  }
})

test('metadata keeps its digits and its limits, whatever the type of its part', async (t) => {
  const { gateway, postRaw } = await start(t)
  const post = (json: string) => {
    const metadata = part('name="metadata"\r\nContent-Type: application/json', json)
    return postRaw(`${PROMPT_PART}${metadata}${FILE_PART}--b--\r\n`)
  }
  const { status, body } = await post('{"take": 12345678901234567890, "__proto__": 1.0}')
  assert.equal(status, 202, JSON.stringify(body))
  const [row] = await gateway.rows('requests')
  assert.equal(row?.metadata, '{"take":12345678901234567890,"__proto__":1.0}')
  const deep = `{"a":${'['.repeat(9_000)}${']'.repeat(9_000)}}`
  assertRefused(await post(deep), 'INVALID_PARAMETER', 'metadata')
  assertRefused(await post('{'), 'INVALID_REQUEST', 'metadata')
  assertRefused(await post('x'.repeat(262_145)), 'PAYLOAD_TOO_LARGE')
})

test('the JSON of a submit is accepted, with all digits and a wait', async (t) => {
  const { gateway, postRaw } = await start(t)
  const input = '"input":{"prompt":"a bell","audio_url":"https://example.com/a.wav"}'
  const json = `{${input},"metadata":{"take":12345678901234567890}}`
  const waiting = postRaw(json, 'application/json; charset=utf-8', { prefer: 'wait=60' })
  await gateway.complete(await gateway.firstRequest())
  const { status, headers, body } = await waiting
  assert.equal(status, 200, JSON.stringify(body))
  assert.equal(headers.get('preference-applied'), 'wait=60')
  const [row] = await gateway.rows('requests')
  assert.deepEqual(
    [row?.request_id, row?.metadata],
    [body.request_id, '{"take":12345678901234567890}'],
  )
  for (const [text, param] of [
    ['null'],
    ['{}', 'input'],
    [`{${input.replace('a bell', ' ')}}`, 'input.prompt'],
  ] as const) {
    const refused = await postRaw(text, 'application/json')
    assert.deepEqual([refused.status, refused.body.error.param], [400, param])
  }
})

test('a body that is not a form, or a broken one, is refused', async (t) => {
  const { gateway, postRaw } = await start(t)
  const ofFile = 'name="file"; filename="a"\r\nContent-Type: audio/wav'
  for (const [body, type, message] of [
    ['RIFF', 'audio/wav', /must be a form .*prompt and file, or the JSON .* is audio\/wav\./],
    ['prompt=a', 'application/x-www-form-urlencoded', /must be a form/],
    ['', 'application/json', /must be a form/],
    ['', FORM, /prompt/],
    ['no form', FORM, /The form is broken/],
    ['no form', 'multipart/form-data', /The form is broken/],
    [PROMPT_PART, FORM, /The form is broken/],
    [PROMPT_PART + part(ofFile, 'RIFF'), FORM, /The form is broken/],
    [`${part(ofFile, 'RIFF')}${PROMPT_PART.slice(0, -4)}`, FORM, /The form is broken/],
    [`${part('filename="a"', 'RIFF')}--b--\r\n`, FORM, /must be the field file/],
    [`${part('x="y"', 'RIFF')}--b--\r\n`, FORM, /not a known field/],
  ] as const) {
    const { status, body: answer } = await postRaw(body, type)
    assert.equal(status, 400, `${body}: ${JSON.stringify(answer)}`)
    assert.match(answer.error.message, message)
  }
  assert.deepEqual(await heldMedia(gateway), NO_MEDIA)
  assert.deepEqual(gateway.logged('error'), [])
})

test('fields that arrive too slowly, or not at all, are refused in time', async (t) => {
  const { gateway, postRaw } = await start(t, { config: { bodySecondsMax: 0.3 } })
  for (const begin of ['', PROMPT_PART + FILE_PART]) {
    let drip: NodeJS.Timeout | undefined
    const form = new ReadableStream({
      start(controller) {
        controller.enqueue(Buffer.from(`${begin}--b\r\nContent-Disposition: form-data; name="x`))
        drip = setInterval(() => controller.enqueue(Buffer.from('x')), 20)
      },
      cancel: () => clearInterval(drip),
    })
    const { status, body } = await postRaw(form)
    clearInterval(drip)
    assert.equal(status, 400)
    assert.match(body.error.message, /incomplete after 0.3 seconds/)
  }
  const silent = new ReadableStream({
    start: (controller) => controller.enqueue(Buffer.from(HALF_A_FORM)),
  })
  const { status, body } = await postRaw(silent)
  assert.equal(status, 400)
  assert.match(body.error.message, /No data received/)
  assert.deepEqual(await heldMedia(gateway), NO_MEDIA)
})

test('a connection that breaks off leaves nothing behind', async (t) => {
  const { gateway, address } = await start(t)
  const socket = sendHalf(address, gateway.key, 100_000)
  while ((await heldMedia(gateway)).bytes === 0) await sleep(10)
  socket.destroy()
  while ((await heldMedia(gateway)).bytes > 0) await sleep(10)
  assert.deepEqual(await heldMedia(gateway), NO_MEDIA)
})

test('a form that is too large for any file is refused before it is sent', async (t) => {
  const { gateway, address } = await start(t)
  const socket = sendHalf(address, gateway.key, LIMITS.fileBytesMax * 2)
  const [answer] = await once(socket, 'data')
  socket.destroy()
  assert.match(String(answer), /413/)
})

test("the file counts toward the account's media from its first byte", async (t) => {
  const { gateway, post } = await start(t, { config: { mediaBytesMaxPerAccount: 1_000 } })
  const large: Field = ['file', new Blob([new Uint8Array(1_001)], { type: 'audio/wav' }), 'a.wav']
  assertRefused(await post([PROMPT, large]), 'MEDIA_QUOTA_EXCEEDED')
  assert.deepEqual(await heldMedia(gateway), NO_MEDIA)
  assert.equal((await post([PROMPT, FILE])).status, 202)
})

test('a refused or repeated submit leaves no file, and a file needs its scope', async (t) => {
  const { gateway, post } = await start(t, { config: { queueMaxPerAccount: 1 } })
  const headers = { 'idempotency-key': 'one' }
  const first = await post([PROMPT, FILE], { headers })
  assert.equal(first.status, 202)
  assert.deepEqual((await post([PROMPT, FILE], { headers })).body, first.body)
  const other: Field = ['file', new Blob(['other...'], { type: 'audio/mp4' }), 'concert.m4a']
  assertRefused(await post([PROMPT, other], { headers }), 'IDEMPOTENCY_CONFLICT', 'Idempotency-Key')
  assertRefused(await post([PROMPT, FILE]), 'RATE_LIMITED')
  assert.deepEqual(await heldMedia(gateway), { files: 1, bytes: FILE_BYTES.length })
  const key = await gateway.newKey(['audio:separate'])
  assertRefused(await post([PROMPT, FILE], { key }), 'PERMISSION_DENIED')
  const url: Field = ['audio_url', 'https://example.com/a.wav']
  assert.equal((await post([PROMPT, url], { key })).status, 202)
})

test('a caller that waits gets the result, or why the request failed', async (t) => {
  const { gateway, post } = await start(t)
  const waiting = post([PROMPT, FILE], { headers: { prefer: 'respond-async, wait=60' } })
  const requestId = await gateway.firstRequest()
  await gateway.complete(requestId)
  const { status, headers, body } = await waiting
  assert.equal(status, 200, JSON.stringify(body))
  assert.equal(headers.get('preference-applied'), 'wait=60')
  assert.deepEqual([body.request_id, body.status], [requestId, 'COMPLETED'])
  assert.match(body.data.target.url, /^http/)
  await gateway.call('DELETE', `/v1/queue/requests/${requestId}`)

  const failing = post([PROMPT, FILE], { headers: { prefer: 'wait=60' } })
  const failedId = await gateway.firstRequest()
  await gateway.event('started', failedId)
  await gateway.event('failed', failedId)
  const refused = await failing
  assert.equal(refused.status, 409)
  const { code, request_id, message } = refused.body.error
  assert.deepEqual([code, request_id], ['REQUEST_FAILED', failedId])
  assert.match(message, /MODEL_FAILED/)
})

test('a caller that waits in vain, or alongside too many others, gets the response to a submit', async (t) => {
  const { gateway, post } = await start(t, { streamsMaxPerAccount: 1 })
  const headers = { prefer: 'wait=1' }
  assert.equal((await post([PROMPT, FILE], { headers })).status, 202)
  const watch = gateway.feed.watch(await gateway.submitted(), gateway.accountId)
  const reply = await post([PROMPT, FILE], { headers: { prefer: 'wait=60' } })
  assert.equal(reply.status, 202)
  assert.equal(reply.headers.get('preference-applied'), null)
  watch.close()
})

test('a caller whose wait fails still gets the id of the request', async (t) => {
  const away = () => {
    throw new ServiceError('SERVICE_UNAVAILABLE')
  }
  for (const breakIt of [
    ({ deps }: Gateway) => (deps.keyChecks.assertStillValid = away), // during the wait
    ({ deps }: Gateway) => (deps.mediaStore.downloadUrl = away), // when it has ended
  ]) {
    const { gateway, post } = await start(t)
    const waiting = post([PROMPT, FILE], { headers: { prefer: 'wait=60' } })
    const requestId = await gateway.firstRequest()
    await gateway.publish()
    breakIt(gateway)
    await gateway.complete(requestId)
    const accepted = await waiting
    assert.deepEqual([accepted.status, accepted.body.request_id], [202, requestId])
  }
})
