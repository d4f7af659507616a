/** One call with a file and its prompt over gRPC, as over HTTP: docs/decisions/api.md. */

import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import * as grpc from '@grpc/grpc-js'
import type { ErrorCode } from '../../shared/errors.ts'
import { assertRefused, startSeparationClient } from '../support/clients/separation-client.ts'
import {
  FILE_BYTES,
  type Gateway,
  type GatewayOptions,
  startGateway,
} from '../support/gateway/start-gateway.ts'
import { heldMedia, NO_MEDIA } from '../support/gateway/stored.ts'

const SOURCE = { name: 'concert.m4a', content_type: 'audio/mp4', size: FILE_BYTES.length }
const SUBMIT = { input: { prompt: 'a bell' } }
const OPTIONS = { options: { submit: SUBMIT, file: SOURCE } }
const PIECES = [{ piece: FILE_BYTES.subarray(0, 3) }, { piece: FILE_BYTES.subarray(3) }]
const WHOLE = [OPTIONS, ...PIECES]
const waiting = (seconds: number) => [
  { options: { ...OPTIONS.options, wait_seconds: seconds } },
  ...PIECES,
]

async function start(t: TestContext, options: GatewayOptions = {}) {
  const gateway = await startGateway(t, options)
  return { gateway, ...(await startSeparationClient(t, gateway)) }
}

async function assertNothingHeld(gateway: Gateway): Promise<void> {
  while ((await heldMedia(gateway)).bytes > 0) await sleep(10)
  assert.deepEqual(await heldMedia(gateway), NO_MEDIA)
  assert.deepEqual(gateway.logged('error'), [])
}

test('grpc: options and a file in one call are a submit', async (t) => {
  const { gateway, separate } = await start(t)
  const submit = {
    input: { prompts: ['a bell', 'a dog'], output_format: 'FLAC', max_chunk_duration: 12.5 },
    metadata_json: '{"take": 12345678901234567890}',
  }
  const reply = await separate([{ options: { submit, file: SOURCE } }, ...PIECES])
  assert.equal(reply.submitted.status, 'IN_QUEUE')
  assert.equal(reply.separation, null)
  assert.deepEqual(await heldMedia(gateway), { files: 1, bytes: FILE_BYTES.length })
  await gateway.publish()
  const job = gateway.broker.jobOf(reply.submitted.request_id)
  const { further_prompts, max_chunk_duration, output_format } = job.options
  assert.deepEqual(
    [job.prompt, further_prompts, max_chunk_duration, output_format],
    ['a bell', ['a dog'], 12.5, 'flac'],
  )
  assert.equal((await gateway.call('GET', job.source.url)).body, FILE_BYTES.toString())
  const [row] = await gateway.rows('requests')
  assert.equal(row?.metadata, '{"take":12345678901234567890}')
  assert.equal(row?.file_name, 'concert.m4a')
})

test('grpc: without a file, the call accepts the other sources', async (t) => {
  const { separate } = await start(t)
  const input = { prompt: 'a bell', audio_url: 'https://example.com/a.wav' }
  const reply = await separate([{ options: { submit: { input } } }])
  assert.equal(reply.submitted.status, 'IN_QUEUE')
  const none = separate([{ options: { submit: SUBMIT } }])
  await assertRefused(none, 'INVALID_ARGUMENT', 'INVALID_PARAMETER', 'input.audio_url')
})

test('grpc: an invalid call is refused with the reason, and nothing is stored', async (t) => {
  const { gateway, separate } = await start(t)
  const withInput = (input: object) => [{ options: { submit: { input }, file: SOURCE } }, ...PIECES]
  const withFile = (file: object) => [{ options: { submit: SUBMIT, file } }, ...PIECES]
  const refusals: [object[], ErrorCode, string?][] = [
    [[], 'INVALID_REQUEST', 'options'],
    [[{}], 'INVALID_REQUEST', 'options'],
    [PIECES, 'INVALID_REQUEST', 'options'],
    [[{ options: { file: SOURCE } }, ...PIECES], 'INVALID_REQUEST', 'submit'],
    [[{ options: { submit: {}, file: SOURCE } }, ...PIECES], 'INVALID_REQUEST', 'input.prompt'],
    [[OPTIONS, OPTIONS], 'INVALID_REQUEST', 'piece'],
    [[OPTIONS, ...PIECES, {}], 'INVALID_REQUEST', 'piece'],
    [[OPTIONS], 'INVALID_REQUEST'],
    [[OPTIONS, { piece: Buffer.alloc(0) }], 'INVALID_REQUEST'],
    [[OPTIONS, PIECES[0]!], 'INVALID_REQUEST'],
    [[{ options: { submit: SUBMIT } }, ...PIECES], 'INVALID_REQUEST', 'file'],
    [withInput({ prompt: '' }), 'INVALID_PARAMETER', 'input.prompt'],
    [withInput({ prompt: 'x', file_id: 'file_1' }), 'INVALID_PARAMETER', 'input.file_id'],
    [
      withInput({ prompt: 'x', audio_url: 'https://a.example' }),
      'INVALID_PARAMETER',
      'input.file_id',
    ],
    [withFile({ ...SOURCE, name: '' }), 'INVALID_PARAMETER', 'file_name'],
    [withFile({ ...SOURCE, content_type: 'text/plain' }), 'UNSUPPORTED_MEDIA_TYPE', 'content_type'],
    [withFile({ ...SOURCE, size: 3 }), 'PAYLOAD_TOO_LARGE'],
    [withFile({ ...SOURCE, size: 524_288_001 }), 'INVALID_PARAMETER', 'file_size'],
    [withFile({ ...SOURCE, size: 0 }), 'INVALID_PARAMETER', 'file_size'],
  ]
  for (const [messages, code, param] of refusals)
    await assertRefused(separate(messages), 'INVALID_ARGUMENT', code, param)
  await assertNothingHeld(gateway)
})

test('grpc: a message that is too long ends the call, and leaves nothing behind', async (t) => {
  const { gateway, separate } = await start(t)
  const messages = async function* () {
    yield* [OPTIONS, PIECES[0]!]
    while ((await heldMedia(gateway)).bytes === 0) await sleep(10)
    yield { piece: Buffer.alloc(300_000) }
  }
  await assert.rejects(separate(messages()), { code: grpc.status.RESOURCE_EXHAUSTED })
  await assertNothingHeld(gateway)
})

test('grpc: a client that hangs up leaves nothing behind', async (t) => {
  const { gateway, separate } = await start(t)
  const gone = new AbortController()
  const messages = async function* () {
    yield* [OPTIONS, PIECES[0]!]
    while ((await heldMedia(gateway)).bytes === 0) await sleep(10)
    gone.abort()
    await sleep(60_000, undefined, { ref: false })
  }
  const { signal } = gone
  await assert.rejects(separate(messages(), { signal }), { code: grpc.status.CANCELLED })
  await assertNothingHeld(gateway)
  assert.deepEqual(await gateway.rows('requests'), [])
})

test('grpc: a client that falls silent is refused in time, at whatever point', async (t) => {
  const { gateway, separate } = await start(t, { config: { bodySecondsMax: 0.2 } })
  const silentAfter = async function* (messages: object[]) {
    yield* messages
    await sleep(60_000, undefined, { ref: false })
  }
  const submit = { input: { prompt: 'x', audio_url: 'https://a.example' } }
  for (const messages of [[], [OPTIONS], [OPTIONS, PIECES[0]!], [{ options: { submit } }]]) {
    const call = separate(silentAfter(messages))
    await assertRefused(call, 'INVALID_ARGUMENT', 'INVALID_REQUEST')
  }
  await assertNothingHeld(gateway)
})

test('grpc: a client that never finishes is refused in time', async (t) => {
  const { gateway, separate } = await start(t, { config: { uploadMinutes: 0.005 } })
  const endless = async function* () {
    yield { options: { ...OPTIONS.options, file: { ...SOURCE, size: 1_000_000 } } }
    for (;;) {
      yield PIECES[0]!
      await sleep(20)
    }
  }
  await assertRefused(separate(endless()), 'FAILED_PRECONDITION', 'FILE_EXPIRED')
  await assertNothingHeld(gateway)
})

test('grpc: a refused or repeated submit leaves no file, and a file needs its scope', async (t) => {
  const { gateway, separate } = await start(t, { config: { queueMaxPerAccount: 1 } })
  const metadata = { 'idempotency-key': 'one' }
  const first = await separate(WHOLE, { metadata })
  assert.deepEqual(await separate(WHOLE, { metadata }), first)
  assert.equal((await heldMedia(gateway)).files, 1)
  await assertRefused(separate(WHOLE), 'RESOURCE_EXHAUSTED', 'RATE_LIMITED')
  assert.equal((await heldMedia(gateway)).files, 1)
  const key = await gateway.newKey(['audio:separate'])
  await assertRefused(separate(WHOLE, { key }), 'PERMISSION_DENIED', 'PERMISSION_DENIED')
  const other = await gateway.newKey(['files:write'])
  await assertRefused(separate(WHOLE, { key: other }), 'PERMISSION_DENIED', 'PERMISSION_DENIED')
  assert.equal((await heldMedia(gateway)).files, 1)
})

test('grpc: a caller that waits gets the result, or why the request failed', async (t) => {
  const { gateway, separate } = await start(t)
  const completing = separate(waiting(60))
  const requestId = await gateway.firstRequest()
  await gateway.complete(requestId)
  const { submitted: accepted, separation } = await completing
  assert.equal(accepted.request_id, requestId)
  assert.equal(separation.status, 'COMPLETED')
  assert.match(separation.result.target.url, /^http/)

  await gateway.call('DELETE', `/v1/queue/requests/${requestId}`)
  const failing = separate(waiting(4_000_000_000))
  const other = await gateway.firstRequest()
  await gateway.event('started', other)
  await gateway.event('failed', other)
  const failed = (await failing).separation
  assert.deepEqual([failed.status, failed.error.code], ['FAILED', 'MODEL_FAILED'])
})

test('grpc: a caller that waits in vain, or alongside too many others, gets the response to a submit', async (t) => {
  const { gateway, separate } = await start(t, { streamsMaxPerAccount: 1 })
  assert.equal((await separate(waiting(1))).separation, null)
  const watch = gateway.feed.watch(await gateway.submitted(), gateway.accountId)
  assert.equal((await separate(waiting(60))).separation, null)
  watch.close()
})
