/** Installed models as an engine uses them: lanes, heads, batches, channels, short chunks. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { model as modelCommand } from '../../scripts/cli/model/command.ts'
import { loadModel } from '../../models/load-model.ts'
import { predictMemory } from '../../models/memory/predict.ts'
import { availableChoices, type ModelChoice } from '../../models/model-choice.ts'
import { closeLane, openLane, type Head, type Model } from '../../models/model.ts'
import { tf } from '../../models/tensorflow/tensor.ts'
import { assertClose } from '../support/basics/assert-close.ts'
import { runCommand } from '../support/processes/run-command.ts'
import { TINY_MODELS } from '../support/models/tiny-models.ts'
import { noise } from '../support/models/lanes.ts'

const folder = mkdtempSync(join(tmpdir(), 'installed-models-'))
after(() => rmSync(folder, { recursive: true }))
for (const words of Object.values(TINY_MODELS)) {
  const { code, errors } = await runCommand(modelCommand, ['import', ...words], {
    env: { MODELS_DIR: folder },
  })
  assert.equal(code, 0, errors)
}
const choices = availableChoices({ installed: folder, songs: '' })
const load = (choice: ModelChoice) =>
  loadModel(choice, { textEncoderFolder: '', precision: 'float32' })
const models = new Map<string, Model>()
for (const choice of choices) {
  if (choice.kind !== 'mini') models.set(choice.name, await load(choice))
}

test('models with stems are preferred, and the built-in one comes last', () => {
  assert.deepEqual(
    choices.map(({ name }) => name),
    ['roformer', 'htdemucs_ft', 'scnet', 'htdemucs', 'spleeter', 'audiosep', 'mini'],
  )
})

for (const choice of choices) {
  if (choice.kind === 'mini') continue
  test(`${choice.name}: an engine on a GPU can predict its memory`, async () => {
    const { weightsBytes, calls } = await predictMemory(() => load(choice))
    assert.ok(weightsBytes > 0)
    assert.ok(calls.every(({ firstBytes }) => firstBytes > 0))
  })
}

const samplesOf = ({ description }: Model) => description.fixedChunks?.samples ?? 6_000

/** Two stems that one prompt asks for. */
const pairOf = (stems: readonly string[]): string[] => [stems[0]!, stems.at(-1)!]

/** Returns heads for each stem and for a pair of stems, or, for a text model, for two prompts. */
const headsOf = ({ description: { answers, stems } }: Model): Head[] =>
  answers === 'stems'
    ? [...stems, ''].map((stem) => ({
        prompt: stem,
        stems: stem === '' ? pairOf(stems) : [stem],
        seed: 0,
      }))
    : ['a dog barking', 'rain'].map((prompt) => ({ prompt, seed: 0 }))

/** Returns targets by [head][channel]. */
function separate(
  model: Model,
  channels: Float32Array[],
  heads = headsOf(model),
  channelMask = 0n,
) {
  const sampleRate = model.description.sampleRate!
  const chunk = { channels, sampleRate, channelMask }
  const lanes = model.open({ chunk, spans: [], acceleration: 'balanced' }, heads)
  while (lanes.some((lane) => lane.stepsDone < lane.steps)) {
    model.step(lanes.filter((lane) => lane.stepsDone < lane.steps))
  }
  const results = lanes.flatMap((lane) =>
    model.close(lane).map((one, i) => [lane.heads[i]!, one] as const),
  )
  return results.sort(([a], [b]) => a - b).map(([, { target }]) => target)
}

for (const [name, model] of models) {
  const wave = (seed: number, samples = samplesOf(model)) => noise(samples, seed)

  test(`${name}: a head gives the same alone, and two stems give their sum`, () => {
    const channels = [wave(1), wave(2)]
    const heads = headsOf(model)
    const together = separate(model, channels)
    for (const [i, head] of heads.entries()) {
      const [alone] = separate(model, channels, [head])
      for (const c of [0, 1]) {
        assertClose(together[i]![c]!, alone![c]!, { absolute: 1e-5 })
      }
    }
    if (model.description.answers === 'text') return
    const of = (stem: string) => together[heads.findIndex(({ prompt }) => prompt === stem)]!
    const [one, other] = pairOf(model.description.stems).map((stem) => of(stem)[0]!)
    const sum = one!.map((x, i) => x + other![i]!)
    assertClose(of('')[0]!, sum, { absolute: 1e-5 })
  })

  test(`${name}: a lane does not depend on the others in its batch, of any length`, () => {
    const request = (seed: number, samples: number, channels = 2) => ({
      ...headsOf(model)[0]!,
      chunk: {
        channels: Array.from({ length: channels }, (_, c) => wave(seed + c, samples)),
        sampleRate: model.description.sampleRate!,
      },
      spans: [],
      acceleration: 'balanced' as const,
    })
    const whole = samplesOf(model)
    const requests = [
      request(1, whole),
      request(3, whole),
      request(5, Math.round(whole / 3)),
      request(7, whole, 1),
    ]
    const lanes = requests.map((one) => openLane(model, one))
    for (;;) {
      const busy = lanes.filter((lane) => lane.stepsDone < lane.steps)
      if (busy.length === 0) break
      model.step(busy)
    }
    for (const [i, lane] of lanes.entries()) {
      const { target } = closeLane(model, lane)
      const { channels } = requests[i]!.chunk
      const [alone] = separate(model, channels, [headsOf(model)[0]!])
      assert.equal(target.length, channels.length)
      for (const [c, one] of target.entries()) {
        assert.equal(one.length, channels[c]!.length)
        assertClose(one, alone![c]!, { absolute: 1e-5 })
      }
    }
  })

  test(`${name}: only the channels of a loudspeaker pair share a pass`, () => {
    const waves = Array.from({ length: 6 }, (_, c) => wave(c, 2_000))
    const [head] = headsOf(model) as [Head]
    const assertGroups = (actual: Float32Array[], groups: readonly (readonly number[])[]) => {
      for (const group of groups) {
        const channels = group.map((c) => waves[c]!)
        const [target] = separate(model, channels, [head])
        for (const [i, c] of group.entries()) {
          assertClose(actual[c]!, target![i]!, { absolute: 1e-5 })
        }
      }
    }
    // front left and right, center, LFE, and a pair at the sides or behind
    for (const mask of [0x60fn, 0x3fn]) {
      assertGroups(separate(model, waves, [head], mask)[0]!, [[0, 1], [2], [3], [4, 5]])
    }
    assertGroups(separate(model, waves.slice(0, 3), [head])[0]!, [[0], [1], [2]])
  })

  test(`${name}: any number of channels and any length give numbers, and nothing is leaked`, () => {
    const cases: [count: number, samples: number][] = [
      [1, 1],
      [2, 2],
      [3, 100],
      [6, 1],
      [8, 2],
    ]
    separate(model, [wave(1)])
    const before = tf.memory().numTensors
    for (const [count, samples] of cases) {
      const channels = Array.from({ length: count }, (_, c) => wave(c, samples))
      channels[0]![0] = Number.NaN
      for (const target of separate(model, channels)) {
        assert.equal(target.length, count)
        assert.ok(target.every((one) => one.length === samples && one.every(Number.isFinite)))
      }
    }
    assert.equal(tf.memory().numTensors, before)
  })

  test(`${name}: spans silence what is outside them`, () => {
    const sampleRate = model.description.sampleRate!
    const seconds = samplesOf(model) / sampleRate
    const head = headsOf(model)[0]!
    const lane = openLane(model, {
      ...head,
      chunk: { channels: [wave(1)], sampleRate },
      spans: [{ start: 0, end: seconds / 2, include: true }],
      acceleration: 'balanced',
    })
    while (lane.stepsDone < lane.steps) model.step([lane])
    const [target] = closeLane(model, lane).target
    const half = Math.ceil(target!.length / 2)
    assert.ok(target!.subarray(0, half - 100).some((x) => x !== 0))
    assert.ok(target!.subarray(half).every((x) => x === 0))
  })

  test(`${name}: invalid input is refused with what would be valid`, () => {
    const sampleRate = model.description.sampleRate!
    const open = (channels: Float32Array[], rate = sampleRate) =>
      openLane(model, {
        ...headsOf(model)[0]!,
        chunk: { channels, sampleRate: rate },
        spans: [],
        acceleration: 'balanced',
      })
    assert.throws(() => open([]), /1 to 8 channels, not 0/)
    assert.throws(() => open([wave(1)], sampleRate + 1), /samples in a second/)
    assert.throws(() => open([new Float32Array(0)]), /1 to \d+ samples/)
    assert.throws(() => open([new Float32Array(11 * sampleRate)]), /1 to \d+ samples/)
    if (model.description.answers === 'text') return
    const chunk = { channels: [wave(1)], sampleRate }
    const head = { prompt: '', stems: ['flute'], seed: 0 }
    assert.throws(
      () => model.open({ chunk, spans: [], acceleration: 'fast' }, [head]),
      /no stem "flute"/,
    )
  })
}

test('a bag runs only the networks of the requested stems', () => {
  const bag = models.get('htdemucs_ft')!
  const chunk = { channels: [noise(3_120, 1)], sampleRate: 4_000 }
  const steps = (stems: string[]) => {
    const [lane] = bag.open({ chunk, spans: [], acceleration: 'fast' }, [
      { prompt: '', stems, seed: 0 },
    ])
    return lane!.steps
  }
  assert.deepEqual([steps(['vocals']), steps(['drums', 'vocals'])], [1, 2])
})
