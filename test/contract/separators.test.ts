/** `separators` of the model, `input.separator`, and engines with different models. */

import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import type { EngineClient } from '../../gateway/operations/engine-registry.ts'
import { ModelList, NAMES_MAX } from '../../gateway/api/model-schemas.ts'
import type { DescribedModel, EngineDescription } from '../../shared/engine-control.ts'
import { assertError, assertShape } from '../support/gateway/assert-shape.ts'
import { NO_MODELS } from '../support/no-models.ts'
import { startSeparationClient } from '../support/clients/separation-client.ts'
import { API, type Gateway, startGateway } from '../support/gateway/start-gateway.ts'

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
  gives_candidates: true,
  predicts_spans: false,
  precision: 'float32',
  licence: name === 'mini' ? '' : `Of ${name}.`,
})

const MINI = model('mini')
const HTDEMUCS = model('htdemucs', ['drums', 'bass', 'other', 'vocals'])

/** Starts a gateway and engines with these models. */
const startWith = (t: TestContext, ...engines: DescribedModel[][]) => startEngines(t, engines)

async function startEngines(
  t: TestContext,
  engines: DescribedModel[][],
  onDescribe = () => {},
): Promise<Gateway> {
  const engine = (address: string): EngineClient => ({
    describe: async () => {
      onDescribe()
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

test('the models of all engines are listed once, with what they answer and which engines have them', async (t) => {
  const names = Array.from({ length: NAMES_MAX + 1 }, (_, i) => `sound ${i}`)
  const mini = { ...MINI, names }
  const gateway = await startWith(t, [HTDEMUCS, mini], [mini])
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
    {
      name: 'mini',
      summary: 'About mini.',
      answers: 'text',
      stems: [],
      names: names.slice(0, NAMES_MAX),
      engine_ids: ids,
    },
  ])
  assert.ok(!JSON.stringify(list).includes('host-'), 'the host of an engine is not shown')
})

test('2.2 the models are those of live engines, which are not asked at each call', async (t) => {
  let calls = 0
  const gateway = await startEngines(t, [[MINI]], () => {
    calls += 1
    if (calls === 1) throw new Error('too early')
  })
  const engines = async () => (await gateway.call('GET', '/v1/models')).json().data[0].engines
  assert.deepEqual([await engines(), await engines(), calls], [[], [], 1])
  gateway.clock.advance(10_000)
  const [[{ model, engine_id: name }]] = await Promise.all([engines(), engines()])
  assert.deepEqual([(await engines())[0].engine_id, calls], [name, 2])
  assert.match(name, /^engine_[0-9a-f]{16}$/, 'the host of an engine is not shown')
  assert.deepEqual(
    [model.name, model.channels_max, model.gives_candidates, model.predicts_spans, model.precision],
    ['mini', 2, true, false, 'float32'],
  )
  gateway.clock.advance(15_001)
  assert.deepEqual(await engines(), [])
})

test('a separator that no engine has is refused, and the available ones are named', async (t) => {
  const gateway = await startWith(t, [HTDEMUCS, MINI])
  const unknown = await gateway.submit({ prompt: 'vocals', separator: 'audiosep' })
  assertError(unknown, 'INVALID_PARAMETER', 'input.separator')
  assert.equal(
    unknown.json().error.message,
    'There is no model "audiosep"; the models here are ' +
      'htdemucs (drums, bass, other, vocals); mini (any prompt).',
  )
  const unfit = await gateway.submit({ prompts: ['drums', 'a dog'], separator: 'htdemucs' })
  assertError(unfit, 'INVALID_PARAMETER', 'input.separator')
  assert.match(
    unfit.json().error.message,
    /^"a dog" is not one of the stems that htdemucs can give/,
  )
  const { call } = await startSeparationClient(t, gateway)
  const input = { prompt: 'x', file_id: await gateway.uploadFile(), separator: 'audiosep' }
  await assert.rejects(call('Submit', { input }), /INVALID_ARGUMENT.*There is no model "audiosep"/)
  for (const separator of ['htdemucs', 'mini', 'auto']) {
    assert.equal((await gateway.submit({ prompt: 'vocals', separator })).statusCode, 202)
  }
  const sounds = { input: { file_id: input.file_id } } // a list takes no separator
  const list = await gateway.call('POST', `${API}/audio/sounds`, { body: sounds })
  assert.equal(list.statusCode, 202, list.body)
})

test('the job carries the separator; without one, and with auto, it carries none', async (t) => {
  const gateway = await startWith(t, [HTDEMUCS, MINI])
  const separators: unknown[] = []
  for (const separator of ['htdemucs', 'auto', undefined, null]) {
    const requestId = await gateway.submitted({ prompt: 'vocals', separator })
    const { options } = gateway.broker.jobOf(requestId)
    separators.push('separator' in options ? options.separator : 'absent')
  }
  assert.deepEqual(separators, ['htdemucs', 'absent', 'absent', 'absent'])
})

test('while no engine is known, any separator is accepted', async (t) => {
  const gateway = await startGateway(t)
  assert.equal((await gateway.submit({ prompt: 'x', separator: 'later' })).statusCode, 202)
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
