/** Several prompts for one media (docs/decisions/api.md). */

import assert from 'node:assert/strict'
import test from 'node:test'
import { QueueResultResponse } from '../../gateway/api/result-schemas.ts'
import { assertError, assertShape } from '../support/gateway/assert-shape.ts'
import { meteredAccount } from '../support/gateway/metered.ts'
import { startSeparationClient } from '../support/clients/separation-client.ts'
import { API, type Gateway, outputsOf, startGateway } from '../support/gateway/start-gateway.ts'

const PROMPTS = [' Lead Vocals', 'drums', 'lead vocals!']

const resultOf = async (gateway: Gateway, requestId: string) =>
  (await gateway.getResult(requestId)).json()

test('each prompt has a target, named after it, and all have one residual', async (t) => {
  const gateway = await startGateway(t)
  const requestId = await gateway.submitted({ prompts: PROMPTS })
  const job = await gateway.complete(requestId)
  assert.equal(job.prompt, 'Lead Vocals')
  assert.deepEqual(job.options.further_prompts, ['drums', 'lead vocals!'])
  const result = await resultOf(gateway, requestId)
  assertShape(QueueResultResponse, result)
  const { targets, target, residual } = result.data
  assert.deepEqual(
    targets.map(({ prompt, file_name }: Record<string, string>) => [prompt, file_name]),
    [
      ['Lead Vocals', 'concert.lead-vocals.wav'],
      ['drums', 'concert.drums.wav'],
      ['lead vocals!', 'concert.lead-vocals-3.wav'],
    ],
  )
  const { prompt, ...first } = targets[0]
  assert.deepEqual(first, target)
  assert.equal(residual.file_name, 'concert.rest.without-lead-vocals+drums+lead-vocals-3.wav')
  const bodies = await Promise.all(
    [...targets, residual].map(async ({ url }) => (await gateway.call('GET', url)).body),
  )
  assert.deepEqual(bodies, ['target', 'target_2', 'target_3', 'residual'])
})

test('a single prompt still has two outputs, and no list of them', async (t) => {
  const gateway = await startGateway(t)
  const requestId = await gateway.submitted()
  const job = await gateway.complete(requestId)
  assert.deepEqual(Object.keys(job.upload_urls).sort(), [
    'peaks',
    'residual',
    'residual_video',
    'target',
    'target_video',
  ])
  assert.equal('further_prompts' in job.options, false)
  const { data } = await resultOf(gateway, requestId)
  assert.equal('targets' in data, false)
  assert.equal(data.target.file_name, 'concert.a-bell.wav')
  const [listed] = (await gateway.call('GET', `${API}/requests`)).json().data
  assert.equal('prompts' in listed, false)
})

test('the list of requests and the webhook have all prompts', async (t) => {
  const gateway = await startGateway(t)
  const webhook = { webhookUrl: 'https://hooks.example/in' }
  const requestId = await gateway.completed({ prompts: PROMPTS }, webhook)
  const [listed] = (await gateway.call('GET', `${API}/requests`)).json().data
  assert.deepEqual(listed.prompts, ['Lead Vocals', 'drums', 'lead vocals!'])
  assert.equal(listed.prompt, 'Lead Vocals')
  const [delivery] = await gateway.rows('deliveries')
  const event = JSON.parse(delivery!.body)
  assert.equal(event.data.targets.length, 3)
  assert.deepEqual(event.data, (await resultOf(gateway, requestId)).data)
})

test('each target costs the length of the media', async (t) => {
  const gateway = await startGateway(t)
  const { own, balance } = await meteredAccount(gateway, 40)
  const requestId = await own.submitted({ prompts: PROMPTS })
  await gateway.event('started', requestId)
  await gateway.event('measured', requestId, { duration: 12.4 })
  assert.deepEqual(await balance(), [40, 39])
  const outputs = outputsOf(gateway.broker.jobOf(requestId))
  await gateway.event('completed', requestId, { duration: 12.5, outputs })
  assert.deepEqual(await balance(), [1, 0])
  assert.equal((await resultOf(own, requestId)).usage.quantity, 39)
})

test("an engine that only supports one prompt can't complete a request with several", async (t) => {
  const gateway = await startGateway(t)
  const requestId = await gateway.submitted({ prompts: PROMPTS })
  await gateway.event('started', requestId)
  await gateway.event('completed', requestId)
  const { status, error } = await gateway.statusOf(requestId)
  assert.deepEqual([status, error.code], ['FAILED', 'MODEL_FAILED'])
})

test('prompts has 2 to 8 distinct entries, each as long as prompt may be, and excludes prompt', async (t) => {
  const gateway = await startGateway(t)
  const many = (count: number) => Array.from({ length: count }, (_, i) => `sound ${i}`)
  for (const prompts of [many(2), many(8), ['x'.repeat(500), 'y']]) {
    assert.equal((await gateway.submit({ prompts })).statusCode, 202)
  }
  const refused = async (input: object, ...error: [Parameters<typeof assertError>[1], string]) =>
    assertError(await gateway.submit(input), ...error)
  for (const prompts of [[], ['one'], many(9), many(9_000)]) {
    await refused({ prompts }, 'INVALID_PARAMETER', 'input.prompts')
  }
  await refused({ prompts: ['a', ' '] }, 'INVALID_PARAMETER', 'input.prompts[1]')
  await refused({ prompts: ['a', 'x'.repeat(501)] }, 'INVALID_PARAMETER', 'input.prompts[1]')
  await refused({ prompts: ['a', 1] }, 'INVALID_REQUEST', 'input.prompts[1]')
  await refused({ prompts: 'a, b' }, 'INVALID_REQUEST', 'input.prompts')
  await refused({ prompts: ['Drums', 'voice', ' drums'] }, 'INVALID_PARAMETER', 'input.prompts[2]')
  await refused({ prompts: many(2), prompt: 'a' }, 'INVALID_PARAMETER', 'input.prompts')
  await refused({ prompt: undefined }, 'INVALID_REQUEST', 'input.prompt')
})

test('grpc: several prompts give as many targets', async (t) => {
  const gateway = await startGateway(t)
  const { call } = await startSeparationClient(t, gateway)
  const accepted = await call('Submit', {
    input: { prompts: PROMPTS, audio_url: 'https://media.example/x.wav' },
  })
  await gateway.publish()
  await gateway.complete(accepted.request_id)
  const { result } = await call('Get', { request_id: accepted.request_id })
  assert.deepEqual(
    result.targets.map(({ prompt, file_name }: Record<string, string>) => [prompt, file_name]),
    [
      ['Lead Vocals', 'x.lead-vocals.wav'],
      ['drums', 'x.drums.wav'],
      ['lead vocals!', 'x.lead-vocals-3.wav'],
    ],
  )
  assert.equal(result.targets[0].url, result.target.url)
})
