/** Lists of the sounds in media: docs/decisions/api.md. */

import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'node:test'
import { createClient } from '../../clients/typescript/node.ts'
import type { HeardSound } from '../../shared/heard-sounds.ts'
import { TAGGER } from '../../shared/request-kind.ts'
import { lastCompleted } from '../../gateway/store/requests.ts'
import { assertError } from '../support/gateway/assert-shape.ts'
import { meteredAccount } from '../support/gateway/metered.ts'
import { startSeparationClient } from '../support/clients/separation-client.ts'
import { API, FILE_BYTES, type Gateway, startGateway } from '../support/gateway/start-gateway.ts'

const SOUNDS: HeardSound[] = [
  { name: 'a dog', spans: [{ start: 0, end: 2.5 }], share: 0.2, match: 0.97 },
  { name: 'rain', spans: [{ start: 1, end: 12 }], share: 0.88, match: 0.8 },
]

async function submitSounds(gateway: Gateway, input: object = {}, more: object = {}) {
  const file = 'request_id' in input ? {} : { file_id: await gateway.uploadFile() }
  const body = { input: { ...file, ...input }, ...more }
  return gateway.call('POST', `${API}/audio/sounds`, { body })
}

/** Submits a request for a list of sounds, publishes its job, and returns its id. */
async function submitList(
  gateway: Gateway,
  input: object = {},
  more: object = {},
): Promise<string> {
  const reply = await submitSounds(gateway, input, more)
  assert.equal(reply.statusCode, 202, reply.body)
  await gateway.publish()
  return reply.json().request_id
}

/** Completes a request like an engine that only listens. */
async function list(gateway: Gateway, requestId: string, duration = 12.5): Promise<void> {
  await gateway.event('started', requestId, { duration })
  const listed = { duration, sounds: SOUNDS, outputs: undefined as never }
  await gateway.event('completed', requestId, listed)
}

test('a list of sounds is a request like others, without outputs', async (t) => {
  const gateway = await startGateway(t)
  const reply = await submitSounds(gateway, {}, { metadata: { take: 1 } })
  assert.equal(reply.statusCode, 202, reply.body)
  const { request_id: requestId, model, status_url: statusUrl } = reply.json()
  assert.equal(model, 'audio/sounds')
  await gateway.publish()
  const job = gateway.broker.jobOf(requestId)
  assert.deepEqual([job.prompt, job.upload_urls], ['', {}])
  assert.equal(job.options.separator, TAGGER, 'which no engine that cannot list sounds leases')
  assert.equal((await gateway.call('GET', job.source.url)).body, FILE_BYTES.toString())
  await list(gateway, requestId)
  const status = (await gateway.call('GET', statusUrl)).json()
  assert.deepEqual([status.model, status.status], ['audio/sounds', 'COMPLETED'])
  const result = (await gateway.getResult(requestId)).json()
  assert.deepEqual(result.data, { sounds: SOUNDS, duration: 12.5 })
  const { model: ofResult, usage, metadata } = result
  assert.deepEqual([ofResult, metadata], ['audio/sounds', { take: 1 }])
  assert.deepEqual(usage, { feature: 'audio_seconds', quantity: 2, billing_status: 'not_metered' })
  const [account] = await gateway.rows('accounts')
  assert.equal(Number(account?.media_held_bytes), FILE_BYTES.length, 'nothing but the file')
  assert.deepEqual(await lastCompleted(gateway.store, 10), [], 'it says nothing of separations')
  const peaks = await gateway.call('GET', `${API}/requests/${requestId}/peaks`)
  assert.equal(peaks.statusCode, 404, peaks.body)
  const deleted = await gateway.call('DELETE', `${API}/requests/${requestId}`)
  assert.equal(deleted.statusCode, 204, deleted.body)
  assert.equal((await gateway.getResult(requestId)).statusCode, 404)
})

test('a separation lists the sounds of its media, if its engine reports them', async (t) => {
  const gateway = await startGateway(t)
  const [withSounds, withoutSounds] = [await gateway.submitted(), await gateway.submitted()]
  await gateway.complete(withSounds, { sounds: SOUNDS })
  await gateway.complete(withoutSounds)
  assert.deepEqual((await gateway.getResult(withSounds)).json().data.sounds, SOUNDS)
  assert.equal((await gateway.getResult(withoutSounds)).json().data.sounds, undefined)
})

test('an engine that gives no list of sounds, or no outputs, fails the request', async (t) => {
  const gateway = await startGateway(t)
  const [sounds, separation] = [await submitList(gateway), await gateway.submitted()]
  await gateway.event('completed', sounds)
  await gateway.event('completed', separation, { sounds: SOUNDS, outputs: undefined as never })
  for (const [id, missing] of [
    [sounds, 'list of sounds'],
    [separation, 'target'],
  ] as const) {
    const { status, error } = await gateway.statusOf(id)
    assert.deepEqual([status, error.code], ['FAILED', 'MODEL_FAILED'])
    assert.match(error.message, new RegExp(`gave no ${missing}`))
  }
})

test('options that only apply to separations are refused by name', async (t) => {
  const gateway = await startGateway(t)
  for (const [field, value] of Object.entries({
    prompt: 'a bell',
    prompts: ['a bell', 'a dog'],
    output_format: 'wav',
    spans: [],
    separator: 'mini',
    side: 'residual',
  })) {
    const reply = await submitSounds(gateway, { [field]: value })
    assert.equal(reply.statusCode, 400, field)
    const { code, param, message } = reply.json().error
    assert.deepEqual([code, param], ['INVALID_REQUEST', `input.${field}`])
    assert.match(message, /is for separations/)
  }
  const unknown = (await submitSounds(gateway, { colour: 'red' })).json().error
  assert.match(unknown.message, /check its spelling/)
  const { error } = (
    await gateway.call('POST', `${API}/audio/sounds`, { body: { input: {} } })
  ).json()
  assert.match(error.message, /Exactly one of/)
  assert.equal((await submitSounds(gateway, { audio_url: null, audio_track: 2 })).statusCode, 202)
  const separation = await gateway.submit({ separator: TAGGER })
  assertError(separation, 'INVALID_PARAMETER', 'input.separator')
})

test('a list costs a tenth of the seconds, at least one', async (t) => {
  const gateway = await startGateway(t)
  for (const [seconds, cost] of [
    [0.2, 1],
    [10, 1],
    [10.1, 2],
    [605, 61],
  ] as const) {
    const { own, balance } = await meteredAccount(gateway, 100)
    const requestId = await submitList(own)
    assert.deepEqual(await balance(), [100, 1])
    await list(own, requestId, seconds)
    const { usage } = (await own.getResult(requestId)).json()
    assert.deepEqual([usage.quantity, usage.billing_status], [cost, 'deducted'])
    assert.deepEqual(await balance(), [100 - cost, 0], `${seconds} s`)
  }
})

test('a list that the balance does not cover is refused, or fails without cost', async (t) => {
  const gateway = await startGateway(t)
  const { own, balance } = await meteredAccount(gateway, 3)
  const requestId = await submitList(own)
  await gateway.event('started', requestId, { duration: 31 })
  const { status, error } = await own.statusOf(requestId)
  assert.deepEqual([status, error.code], ['FAILED', 'INSUFFICIENT_CREDITS'])
  assert.match(error.message, /The media costs 4 s, but the account has 3 s/)
  assert.deepEqual(await balance(), [3, 0])
  const poor = await meteredAccount(gateway, 0)
  assert.equal((await submitSounds(poor.own)).statusCode, 402)
})

test('an account with a full media quota can still ask what is in its media', async (t) => {
  const gateway = await startGateway(t)
  const fileId = await gateway.uploadFile()
  gateway.deps.config.mediaBytesMaxPerAccount = 1
  assertError(await gateway.submit({ file_id: fileId }), 'MEDIA_QUOTA_EXCEEDED')
  const body = { input: { file_id: fileId } }
  const reply = await gateway.call('POST', `${API}/audio/sounds`, { body })
  assert.equal(reply.statusCode, 202, reply.body)
})

test('the list of requests can have both kinds, or one', async (t) => {
  const gateway = await startGateway(t)
  const [separation, sounds] = [await gateway.submitted(), await submitList(gateway)]
  await list(gateway, sounds)
  const ids = async (query: string) => {
    const reply = await gateway.call('GET', `${API}/requests?${query}`)
    assert.equal(reply.statusCode, 200, reply.body)
    return reply.json().data.map((row: { request_id: string }) => row.request_id)
  }
  assert.deepEqual((await ids('')).sort(), [separation, sounds].sort())
  assert.deepEqual(await ids('model=audio/sounds'), [sounds])
  assert.deepEqual(await ids('model=audio/separate&status=IN_QUEUE'), [separation])
  const wrong = await gateway.call('GET', `${API}/requests?model=audio/other`)
  assert.deepEqual([wrong.statusCode, wrong.json().error.param], [400, 'model'])
})

test('its source can be separated, but it has no outputs to separate or share', async (t) => {
  const gateway = await startGateway(t)
  const sounds = await submitList(gateway)
  await list(gateway, sounds)
  const separate = (output: string) => gateway.submit({ request_id: sounds, output })
  assert.equal((await separate('source')).statusCode, 202)
  const refused = await separate('residual')
  const { param } = refused.json().error
  assert.deepEqual([refused.statusCode, param], [400, 'input.request_id'], refused.body)
  const shared = await gateway.call('POST', `${API}/requests/${sounds}/shares`, { body: {} })
  assert.equal(shared.statusCode, 400, shared.body)
  const separation = await gateway.completed()
  await submitList(gateway, { request_id: separation, output: 'target' })
})

test('a webhook delivers the list', async (t) => {
  const gateway = await startGateway(t)
  const webhook = { webhookUrl: 'https://hooks.test/x' }
  const [listed, failed] = [
    await submitList(gateway, {}, webhook),
    await submitList(gateway, {}, webhook),
  ]
  await list(gateway, listed)
  await gateway.event('failed', failed)
  const events = (await gateway.rows('deliveries')).map(({ body }) => JSON.parse(body))
  const completed = events.find(({ request_id }) => request_id === listed)
  assert.deepEqual([completed.type, completed.model], ['audio.sounds.completed', 'audio/sounds'])
  assert.deepEqual(completed.data, { sounds: SOUNDS, duration: 12.5 })
  const { type } = events.find(({ request_id }) => request_id === failed)
  assert.equal(type, 'audio.sounds.failed')
})

test('a file can be sent and its sounds listed in one call, which may wait', async (t) => {
  const gateway = await startGateway(t)
  const address = await gateway.listen()
  const post = async (fields: [string, string | Blob][], headers: Record<string, string> = {}) => {
    const body = new FormData()
    for (const [name, value] of fields) body.append(name, value)
    return fetch(`${address}/v1/audio/sounds`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.key}`, ...headers },
      body,
    })
  }
  const file: [string, Blob] = ['file', new Blob([FILE_BYTES], { type: 'audio/mp4' })]
  const reply = await post([file, ['metadata', '{"take":1}']])
  assert.equal(reply.status, 202)
  const refused = await post([['prompt', 'a bell'], file])
  assert.equal(refused.status, 400)
  assert.match(((await refused.json()) as any).error.message, /is for separations/)
  const first = ((await reply.json()) as any).request_id
  await gateway.call('DELETE', `${API}/requests/${first}`)
  const waiting = post([file], { prefer: 'wait=30' })
  await list(gateway, await gateway.firstRequest())
  const answer = await waiting
  assert.deepEqual([answer.status, answer.headers.get('preference-applied')], [200, 'wait=30'])
  assert.deepEqual(((await answer.json()) as any).data.sounds, SOUNDS)
})

test('gRPC submits, watches and lists as HTTP does', async (t) => {
  const gateway = await startGateway(t)
  const { call } = await startSeparationClient(t, gateway)
  const fileId = await gateway.uploadFile()
  const { request_id: requestId, model } = await call('Submit', { sounds: { file_id: fileId } })
  assert.equal(model, 'audio/sounds')
  await gateway.publish()
  await list(gateway, requestId)
  const { result, ...request } = await call('Get', { request_id: requestId })
  assert.deepEqual([request.model, request.status], ['audio/sounds', 'COMPLETED'])
  assert.deepEqual([result.sounds, result.duration], [SOUNDS, 12.5])
  assert.deepEqual([result.target, result.residual], [null, null])
  await gateway.submitted()
  const idsOf = async (model: string) =>
    (await call('List', { model })).separations.map(({ request_id }: any) => request_id)
  assert.deepEqual(await idsOf('audio/sounds'), [requestId])
  assert.equal((await idsOf('')).length, 2)
  const both = { sounds: { file_id: fileId }, input: { prompt: 'a bell', file_id: fileId } }
  await assert.rejects(call('Submit', both), /Exactly one of input and sounds/)
  await assert.rejects(call('Submit', { sounds: {} }), /Exactly one of/)
})

test('the client lists the sounds of a file, in one call or step by step', async (t) => {
  let address = ''
  const gateway = await startGateway(t, { config: { publicUrl: () => address } })
  address = await gateway.listen()
  const client = createClient({ baseUrl: address, apiKey: gateway.key })
  const path = join(gateway.folder, 'concert.m4a')
  await writeFile(path, FILE_BYTES)
  const listing = client.sounds(path, { metadata: { take: 1 } })
  await list(gateway, await gateway.firstRequest())
  const result = await listing
  assert.deepEqual([result.data.sounds, result.metadata], [SOUNDS, { take: 1 }])
  const fileId = await client.upload(path, 'audio/mp4')
  const accepted = await client.submitSounds({ input: { file_id: fileId } })
  await gateway.publish()
  await list(gateway, accepted.request_id)
  assert.deepEqual((await client.waitForSounds(accepted)).data.sounds, SOUNDS)
  const { data } = await client.list({ model: 'audio/sounds' })
  assert.equal(data.length, 2)
  assert.deepEqual((await client.list({ model: 'audio/separate' })).data, [])
})
