/** Compares bfloat16 with float32: how far the transformer's parts and whole separations differ. */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { roundToBfloat16 } from '../../../models/tensorflow/bfloat16.ts'
import type { LaneRequest, Model } from '../../../models/model.ts'
import { Weights } from '../../../models/checkpoint/weights.ts'
import { loadJudge, SCORES } from '../../../models/sam-audio/judge/judge.ts'
import { loadSamAudio } from '../../../models/sam-audio/sam-audio.ts'
import {
  loadSpanNetwork,
  readSpanPredictorConfig,
} from '../../../models/sam-audio/spans/span-predictor.ts'
import { loadTransformer } from '../../../models/sam-audio/flow/transformer.ts'
import {
  isBfloat16,
  multiply,
  softmax,
  tf,
  toBfloat16,
  toFloat32,
  uploadBfloat16,
  type Tensor,
} from '../../../models/tensorflow/tensor.ts'
import { assertClose } from '../../support/basics/assert-close.ts'
import { fc } from '../../support/basics/property.ts'
import { hasInstructions } from '../../../models/tensorflow/cpu.ts'
import { randomWeights, transformerShapes } from '../../support/models/random-weights.ts'
import { relativeError } from '../../support/basics/relative-error.ts'
import { noise, separate, separateOne } from '../../support/models/lanes.ts'
import { FIXTURES } from '../../support/models/tiny-sam-audio.ts'

const FEATURES = 64
const config = {
  dim: 256,
  layers: 6,
  heads: 4,
  contextDim: 256,
  timeDim: 64,
  positionsMax: 100,
  feedForwardDim: 704,
}
const weights = randomWeights(transformerShapes(config, FEATURES))
const [wide, half] = [
  loadTransformer(weights, config, FEATURES),
  loadTransformer(weights, config, FEATURES, 'bfloat16'),
]

/**
 * Without AVX-512 oneDNN has no bfloat16 products, and TensorFlow's own kernels also round between the
 * blocks of a sum: 1.4 times the error, as measured.
 */
const ROUNDINGS = hasInstructions(/\bavx512bw\b/) ? 1 : 2

function within(
  t: TestContext,
  name: string,
  actual: Tensor,
  expected: Tensor,
  allowed: number,
): void {
  const found = relativeError(actual.dataSync(), expected.dataSync())
  const most = ROUNDINGS * allowed
  t.diagnostic(`${name}: ${found.toExponential(2)} of at most ${most}`)
  assert.ok(found < most, `${name}: ${found}`)
  assert.ok(found > 1e-5, `${name}: ${found}, was it bfloat16 at all?`)
}

test('a bfloat16 tensor keeps eight bits, is narrow, and leaves nothing behind', () => {
  const before = tf.memory().numTensors
  tf.tidy(() => {
    const narrow = toBfloat16(tf.tensor2d([1, 1 + 2 ** -7, 1 + 2 ** -9, -3], [2, 2]))
    assert.equal(isBfloat16(narrow), true)
    assert.deepEqual([...toFloat32(narrow).dataSync()], [1, 1 + 2 ** -7, 1, -3])
    assert.equal(isBfloat16(multiply(narrow, narrow)), true)
    assert.throws(
      () => narrow.add(1).dataSync(),
      /bfloat16/i,
      'the rest of tfjs takes it for float32',
    )
  })
  assert.equal(tf.memory().numTensors, before)
})

test('rounding equals that of TensorFlow', () => {
  const floats = fc.float32Array({ minLength: 2, maxLength: 64 })
  fc.assert(
    fc.property(floats, (some) => {
      const values = some.length % 2 ? some.slice(1) : some
      const bits = new Uint16Array(values.length)
      roundToBfloat16(values, bits, 0)
      tf.tidy(() => {
        const ours = toFloat32(uploadBfloat16(bits, [values.length])).dataSync()
        const theirs = toFloat32(toBfloat16(tf.tensor1d(values))).dataSync()
        assert.deepEqual([...ours], [...theirs])
      })
    }),
    { numRuns: 300 },
  )
})

test('softmax equals that of tfjs', () => {
  const x = tf.randomNormal([3, 5, 17], 0, 4, 'float32', 3)
  assertClose(softmax(x).dataSync() as Float32Array, tf.softmax(x).dataSync() as Float32Array, {
    absolute: 1e-6,
  })
})

test('the transformer matches float32 within rounding, and leaves nothing behind', (t) => {
  const inputs = {
    x: tf.randomNormal([2, 50, config.dim], 0, 1, 'float32', 1),
    memory: tf.randomNormal([2, 7, config.dim], 0, 1, 'float32', 2),
    time: wide.embedTime([0.3, 0.8]),
    frames: null,
    textKeys: null,
  }
  const expected = wide.forward(inputs)
  const before = tf.memory().numTensors
  const actual = half.forward(inputs)
  assert.equal(tf.memory().numTensors, before + 1)
  within(t, 'transformer', actual, expected, 1e-2)
})

test('the scores of the judge and the span predictor match too', async (t) => {
  const precisions = ['bfloat16', 'float32'] as const
  const verdict = { mixture: noise(9_000, 1), separated: noise(9_000, 2), prompt: 'a dog' }
  const judges = await Promise.all(
    precisions.map((each) => loadJudge(`${FIXTURES}/judge-tiny`, each)),
  )
  const [scores, expected] = judges.map(({ judge }) => {
    const [scoresOfPrecision] = judge([verdict])
    return tf.tensor1d(SCORES.map((name) => scoresOfPrecision![name]))
  })
  within(t, 'judge', scores!, expected!, 1e-2)

  const folder = `${FIXTURES}/pe-a-frame-tiny`
  const config = await readSpanPredictorConfig(`${folder}/config.json`)
  const networks = precisions.map((each) =>
    loadSpanNetwork(Weights.open(`${folder}/model.safetensors`).in(each), config),
  )
  const features = tf.tensor3d(noise(40 * config.featureDim, 3), [1, 40, config.featureDim])
  const [audio, full] = networks.map((network) => network.embedAudio(features, [40]))
  within(t, 'span predictor', audio!, full!, 2e-2)
})

test('whole separations are close in both precisions, alone and in a batch', async (t) => {
  const [full, narrow] = [await loadSamAudio(FIXTURES), await loadSamAudio(FIXTURES, 'bfloat16')]
  assert.deepEqual(
    [full, narrow].map(({ description }) => description.precision),
    ['float32', 'bfloat16'],
  )
  const sampleRate = full.description.sampleRate!
  const hop = full.description.frameSamples
  const request = (count: number, more: Partial<LaneRequest> = {}): LaneRequest => ({
    chunk: { channels: [noise(count * hop, count)], sampleRate },
    prompt: 'rain',
    spans: [],
    acceleration: 'balanced',
    seed: 1,
    ...more,
  })
  const target = (model: Model) => separateOne(model, request(20)).target[0]!
  const expected = target(full)
  const alone = target(narrow)
  const error = relativeError(alone, expected)
  t.diagnostic(`separation of 16 steps: ${error.toExponential(2)}`)
  assert.ok(error > 1e-6 && error < ROUNDINGS * 2e-2, `${error}`)
  const batch = [request(20), request(31, { prompt: 'a dog' }), request(5)]
  const apart = relativeError(separate(narrow, batch)[0]!.target[0]!, alone)
  t.diagnostic(`in company: ${apart.toExponential(2)}`)
  assert.ok(apart < ROUNDINGS * 1e-2, `${apart}`)
})
