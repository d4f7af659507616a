/** An output of an earlier request as the source of a new one (docs/decisions/api.md). */

import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { DAY_MS } from '../../shared/durations.ts'
import { sweep } from '../../gateway/files/sweeper.ts'
import { submit as submitDirectly } from '../../gateway/requests/submit/submit.ts'
import { assertError } from '../support/gateway/assert-shape.ts'
import { beforeTransactions } from '../support/database/before-transactions.ts'
import { meteredAccount } from '../support/gateway/metered.ts'
import { startSeparationClient } from '../support/clients/separation-client.ts'
import {
  API,
  ATTEMPT_ID,
  FILE_BYTES,
  type Gateway,
  type GatewayOptions,
  outputsOf,
  startGateway,
} from '../support/gateway/start-gateway.ts'
import { onDisk } from '../support/gateway/stored.ts'

/** Completes a request with two targets. */
const completeRequest = (gateway: Gateway) => gateway.completed({ prompts: ['vocals', 'drums'] })

async function gatewayWithOutputs(t: TestContext, options?: GatewayOptions) {
  const gateway = await startGateway(t, options)
  return { gateway, requestId: await completeRequest(gateway) }
}

/** Submits with an output as the source, and returns the source that engines get. */
async function sourceOf(gateway: Gateway, input: object) {
  const requestId = await gateway.submitted(input)
  const { source } = gateway.broker.jobOf(requestId)
  return { requestId, source, read: async () => (await gateway.call('GET', source.url)).body }
}

test('an engine reads the named output, whose name the new outputs extend', async (t) => {
  const { gateway, requestId } = await gatewayWithOutputs(t)
  const cases = [
    [{ output: 'residual' }, 'residual', 'concert.rest.without-vocals+drums.wav'],
    [{ output: 'target' }, 'target', 'concert.vocals.wav'],
    [{ output: 'target', output_index: 1 }, 'target_2', 'concert.drums.wav'],
  ] as const
  for (const [output, bytes, fileName] of cases) {
    const { source, read } = await sourceOf(gateway, { request_id: requestId, ...output })
    assert.deepEqual([source.kind, source.file_name], ['file', fileName])
    assert.equal(await read(), bytes)
  }
})

test('if the media has a picture, only the sound is the source', async (t) => {
  const gateway = await startGateway(t)
  const requestId = await gateway.submitted()
  const job = gateway.broker.jobOf(requestId)
  await gateway.uploadOutputs(job)
  const video = { content_type: 'video/mp4', extension: 'mp4', bytes: 4 }
  const { target, residual } = outputsOf(job, ATTEMPT_ID)
  await gateway.event('started', requestId)
  await gateway.event('completed', requestId, {
    outputs: { target: { ...target, video }, residual: { ...residual, video } },
  })
  const { read } = await sourceOf(gateway, { request_id: requestId, output: 'target' })
  assert.equal(await read(), 'target')
})

test('a request that is unknown, of another account, or not completed is refused', async (t) => {
  const { gateway, requestId } = await gatewayWithOutputs(t)
  const refused = async (
    request: string,
    code: Parameters<typeof assertError>[1],
    from = gateway,
  ) => {
    const reply = await from.submit({ request_id: request, output: 'residual' })
    assertError(reply, code, 'input.request_id')
  }
  await refused('req_00000000000000000000000000000000', 'INVALID_PARAMETER')
  await refused('nonsense', 'INVALID_PARAMETER')
  const { own } = await meteredAccount(gateway, 1_000)
  await refused(requestId, 'INVALID_PARAMETER', own)
  const waiting = await gateway.submitted()
  await refused(waiting, 'RESULT_NOT_READY')
  await gateway.event('started', waiting)
  await refused(waiting, 'RESULT_NOT_READY')
  await gateway.event('failed', waiting)
  await refused(waiting, 'REQUEST_FAILED')
})

test('the fields that name an output are checked, each with its own message', async (t) => {
  const { gateway, requestId: request_id } = await gatewayWithOutputs(t)
  const refused = async (input: object, ...error: [Parameters<typeof assertError>[1], string]) =>
    assertError(await gateway.submit(input), ...error)
  await refused({ request_id }, 'INVALID_REQUEST', 'input.output')
  await refused({ request_id, output: 'mixture' }, 'INVALID_PARAMETER', 'input.output')
  const target = { request_id, output: 'target' }
  for (const output_index of [-1, 2, 8]) {
    await refused({ ...target, output_index }, 'INVALID_PARAMETER', 'input.output_index')
  }
  const first = { request_id, output: 'residual', output_index: 0 }
  await refused(first, 'INVALID_PARAMETER', 'input.output_index')
  const audio_url = 'https://media.example/x.wav'
  await refused({ ...target, audio_url }, 'INVALID_PARAMETER', 'input.request_id')
  await refused({ ...target, file_id: 'file_1' }, 'INVALID_PARAMETER', 'input.request_id')
  await refused({ audio_url, output: 'target' }, 'INVALID_PARAMETER', 'input.output')
  await refused({ audio_url, output_index: 1 }, 'INVALID_PARAMETER', 'input.output_index')
  const spans = [{ start: 13, end: 14 }]
  await refused({ ...target, spans }, 'INVALID_PARAMETER', 'input.spans[0].start')
  gateway.deps.config.mediaSecondsMax = 10
  assertError(await gateway.submit(target), 'MEDIA_TOO_LONG')
})

const again = (gateway: Gateway, request_id: string, more: object = {}) =>
  gateway.submit({ request_id, output: 'source', ...more })

test('the source of a request in any state can be a source again', async (t) => {
  const { gateway, requestId } = await gatewayWithOutputs(t)
  const ofSource = (request_id: string) => sourceOf(gateway, { request_id, output: 'source' })
  const file = await ofSource(requestId)
  assert.equal(file.source.file_name, 'concert.m4a')
  assert.equal(await file.read(), String(FILE_BYTES))

  const audio_url = 'https://media.example/x.wav?token=secret'
  const waiting = await gateway.submitted({ audio_url })
  const address = await ofSource(waiting)
  assert.deepEqual(address.source, gateway.broker.jobOf(waiting).source)

  const output = await sourceOf(gateway, { request_id: requestId, output: 'target' })
  assert.equal(await (await ofSource(output.requestId)).read(), 'target')

  const { call } = await startSeparationClient(t, gateway)
  const input = { prompt: 'a bell', request_id: requestId, output: 'SOURCE' }
  const { request_id: id } = await call('Submit', { input })
  await gateway.publish()
  assert.equal(gateway.broker.jobOf(id).source.file_name, 'concert.m4a')
})

test('a source that is no longer stored, or belongs to another account, is refused', async (t) => {
  const { gateway, requestId } = await gatewayWithOutputs(t)
  const index = await again(gateway, requestId, { output_index: 0 })
  assertError(index, 'INVALID_PARAMETER', 'input.output_index')
  const { own } = await meteredAccount(gateway, 1_000)
  assertError(await again(own, requestId), 'INVALID_PARAMETER', 'input.request_id')
  const chained = await gateway.completed({ request_id: requestId, output: 'target' })
  const files = (await gateway.call('GET', '/v1/files')).json().data
  for (const { file_id: id } of files) await gateway.call('DELETE', `/v1/files/${id}`)
  assertError(await again(gateway, requestId), 'FILE_EXPIRED', 'input.request_id')
  await gateway.call('DELETE', `${API}/requests/${requestId}`)
  assertError(await again(gateway, chained), 'FILE_EXPIRED', 'input.request_id')
})

test('because its length is known, the cost is reserved at submit, or the submit refused', async (t) => {
  const gateway = await startGateway(t)
  const { own, balance } = await meteredAccount(gateway, 60)
  const requestId = await completeRequest(own) // two targets of 12.5 s
  assert.deepEqual(await balance(), [34, 0])
  const source = { request_id: requestId, output: 'residual' }
  assert.equal((await own.submit(source)).statusCode, 202)
  assert.deepEqual(await balance(), [34, 13])
  const reply = await own.submit({ ...source, prompts: ['a', 'b'] })
  assertError(reply, 'INSUFFICIENT_CREDITS')
  assert.deepEqual(await balance(), [34, 13])
})

test('outputs stay while an unfinished request needs them, and are then removed', async (t) => {
  const { gateway, requestId } = await gatewayWithOutputs(t)
  const source = { request_id: requestId, output: 'residual' }
  const next = await gateway.submitted(source)
  const { url } = gateway.broker.jobOf(next).source
  gateway.clock.advance(7 * DAY_MS - 1)
  await gateway.event('started', next)
  gateway.clock.advance(1)
  await sweep(gateway.deps)
  assertError(await gateway.submit(source), 'FILE_EXPIRED', 'input.request_id')
  const residual = `outputs/${requestId}/${ATTEMPT_ID}/residual`
  assert.ok((await onDisk(gateway)).includes(residual))
  assert.equal((await gateway.getResult(requestId)).statusCode, 404)
  await gateway.event('failed', next)
  await sweep(gateway.deps)
  assert.ok(!(await onDisk(gateway)).includes(residual))
  assert.ok((await gateway.call('GET', url)).statusCode >= 400)
})

test('outputs removed between the check of a submit and its storing are refused', async (t) => {
  const { gateway, requestId } = await gatewayWithOutputs(t)
  const caller = { account_id: gateway.accountId, own_priority: null }
  const body = { input: { prompt: 'a bell', request_id: requestId, output: 'residual' } }
  const slowClock = {
    now: () => gateway.clock.now() - 7 * DAY_MS,
    elapsed: () => gateway.clock.elapsed(),
  }
  gateway.clock.advance(7 * DAY_MS)
  const store = beforeTransactions(gateway.store, () => sweep(gateway.deps))
  const deps = { ...gateway.deps, store, clock: slowClock }
  await assert.rejects(submitDirectly(deps, caller, { body }), { code: 'FILE_EXPIRED' })
})

test('grpc: an output of an earlier request as the source', async (t) => {
  const { gateway, requestId: request_id } = await gatewayWithOutputs(t)
  const { call } = await startSeparationClient(t, gateway)
  const input = { prompt: 'a bell', request_id, output: 'TARGET', output_index: 1 }
  const accepted = await call('Submit', { input })
  await gateway.publish()
  assert.equal(gateway.broker.jobOf(accepted.request_id).source.file_name, 'concert.drums.wav')
  const refused = { ...input, output_index: 2 }
  await assert.rejects(call('Submit', { input: refused }), /must be less than 2/)
  const unfinished = { ...input, request_id: accepted.request_id }
  await assert.rejects(call('Submit', { input: unfinished }), /FAILED_PRECONDITION/)
})
