/** `separators` of the model, `input.separator`, and engines with different models. */

import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import type { EngineClient } from '../../gateway/operations/engine-registry.ts'
import { ModelList, NAMES_MAX } from '../../gateway/api/model-schemas.ts'
import type { DescribedModel, EngineDescription } from '../../shared/engine-control.ts'
import { assertError, assertShape } from '../support/gateway/assert-shape.ts'
import { NO_MODELS } from '../support/no-models.ts'
import { startSeparationClient } from '../support/clients/separation-client.ts'
import { API, startGateway, uploadFile, type Gateway } from '../support/gateway/start-gateway.ts'

const model = (name: string, stems: readonly string[] = []): DescribedModel => ({
  name,
  answers: stems.length > 0 ? 'stems' : 'text',
  stems,
  summary: `About ${name}.`,
  parameters: 10,
  weights_sha256: 'ab',
  sample_rate: 44_100,
  channels_max: 2,
  chunk_seconds_max: 60,
  gives_candidates: false,
  predicts_spans: false,
  precision: 'float32',
  licence: name === 'mini' ? '' : `Of ${name}.`,
})

const MINI = model('mini')
const HTDEMUCS = model('htdemucs', ['drums', 'bass', 'other', 'vocals'])

/** Starts a gateway and engines with these models. */
async function startWith(t: TestContext, ...engines: DescribedModel[][]): Promise<Gateway> {
  const engine = (address: string): EngineClient => ({
    describe: async () => {
      const description: Partial<EngineDescription> = {
        engine_id: `host-${address}`,
        version: '0.3.0',
        device: 'cpu',
        model: MINI,
        models: engines[Number(new URL(`http://${address}`).port) - 1]!,
      }
      return description as EngineDescription
    },
    stats: () => Promise.reject(new Error('not asked for')),
    ...NO_MODELS,
    cancel: async () => 'STOPPED',
    close() {},
  })
  const gateway = await startGateway(t, { engine })
  for (const i of engines.keys()) {
    const address = `127.0.0.1:${i + 1}`
    gateway.engineRegistry.announced({ engine_id: `host-${address}`, control_address: address })
  }
  return gateway
}

test('a list of sounds is accepted whichever models the engines have', async (t) => {
  const gateway = await startWith(t, [MINI])
  const body = { input: { file_id: await uploadFile(gateway) } }
  const reply = await gateway.call('POST', `${API}/audio/sounds`, { body })
  assert.equal(reply.statusCode, 202, reply.body)
})

async function submit(gateway: Gateway, input: object) {
  const file_id = await uploadFile(gateway)
  return gateway.call('POST', `${API}/audio/separate`, { body: { input: { file_id, ...input } } })
}

test('the models of all engines are listed once, with what they answer and which engines have them', async (t) => {
  const gateway = await startWith(t, [HTDEMUCS, MINI], [MINI])
  const list = (await gateway.call('GET', '/v1/models')).json()
  assertShape(ModelList, list)
  const [{ engines, separators }] = list.data
  const ids = engines.map(({ engine_id }: { engine_id: string }) => engine_id)
  assert.deepEqual(separators, [
    {
      name: 'htdemucs',
      summary: 'About htdemucs.',
      answers: 'stems',
      stems: ['drums', 'bass', 'other', 'vocals'],
      licence: 'Of htdemucs.',
      engine_ids: [ids[0]],
    },
    { name: 'mini', summary: 'About mini.', answers: 'text', stems: [], engine_ids: ids },
  ])
  assert.ok(!JSON.stringify(list).includes('host-'), 'the host of an engine is not shown')
})

test('the names of the sounds that a model knows are listed, up to a bound', async (t) => {
  const names = Array.from({ length: NAMES_MAX + 1 }, (_, i) => `sound ${i}`)
  const gateway = await startWith(t, [{ ...MINI, names }])
  const list = (await gateway.call('GET', '/v1/models')).json()
  assertShape(ModelList, list)
  assert.deepEqual(list.data[0].separators[0].names, names.slice(0, NAMES_MAX))
})

test('a separator that no engine has is refused, and the available ones are named', async (t) => {
  const gateway = await startWith(t, [HTDEMUCS, MINI])
  const unknown = await submit(gateway, { prompt: 'vocals', separator: 'audiosep' })
  assertError(unknown, 'INVALID_PARAMETER', 'input.separator')
  assert.equal(
    unknown.json().error.message,
    'There is no model "audiosep"; the models here are ' +
      'htdemucs (drums, bass, other, vocals); mini (any prompt).',
  )
  const unfit = await submit(gateway, { prompts: ['drums', 'a dog'], separator: 'htdemucs' })
  assertError(unfit, 'INVALID_PARAMETER', 'input.separator')
  assert.match(
    unfit.json().error.message,
    /^"a dog" is not one of the stems that htdemucs can give/,
  )
  const { call } = await startSeparationClient(t, gateway)
  const input = { prompt: 'x', file_id: await uploadFile(gateway), separator: 'audiosep' }
  await assert.rejects(call('Submit', { input }), /INVALID_ARGUMENT.*There is no model "audiosep"/)
  for (const separator of ['htdemucs', 'mini', 'auto']) {
    assert.equal((await submit(gateway, { prompt: 'vocals', separator })).statusCode, 202)
  }
})

test('the job carries the separator; without one, and with auto, it carries none', async (t) => {
  const gateway = await startWith(t, [HTDEMUCS, MINI])
  const separators: unknown[] = []
  for (const separator of ['htdemucs', 'auto', undefined, null]) {
    const { request_id } = (await submit(gateway, { prompt: 'vocals', separator })).json()
    await gateway.publish()
    const { options } = gateway.broker.jobOf(request_id)
    separators.push('separator' in options ? options.separator : 'absent')
  }
  assert.deepEqual(separators, ['htdemucs', 'absent', 'absent', 'absent'])
})

test('while no engine is known, any separator is accepted', async (t) => {
  const gateway = await startGateway(t)
  assert.equal((await submit(gateway, { prompt: 'x', separator: 'later' })).statusCode, 202)
})

test('readiness says how engines differ', async (t) => {
  const problems = async (...engines: DescribedModel[][]) => {
    const gateway = await startWith(t, ...engines)
    await gateway.engineRegistry.describe()
    const reply = await gateway.call('GET', '/readyz')
    assert.equal(reply.statusCode, 200)
    return reply.json().problems
  }
  assert.deepEqual(await problems([HTDEMUCS, MINI], [HTDEMUCS, MINI]), [])
  assert.deepEqual(await problems([HTDEMUCS, MINI], [MINI], [MINI]), [
    'The engines hold different models (1 with htdemucs, mini; 2 with mini): ' +
      'the model that answers a prompt depends on the engine.',
  ])
  assert.deepEqual(await problems([MINI], [{ ...MINI, weights_sha256: 'cd' }]), [
    'The engines hold different weights of mini.',
  ])
})
