/** The parts beside the checkpoint, as wide as in published models, with random weights and fewer layers. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { loadSpanNetwork } from '../../../models/sam-audio/spans/span-predictor.ts'
import { loadT5 } from '../../../models/sam-audio/text/t5.ts'
import { tf, type Tensor } from '../../../models/tensorflow/tensor.ts'
import { assertClose } from '../../support/basics/assert-close.ts'
import { spanPredictorShapes, t5Shapes } from '../../support/models/random-parts.ts'
import { randomWeights } from '../../support/models/random-weights.ts'
import { noise } from '../../support/models/lanes.ts'

/** Returns tokens drawn from the seed. */
const tokens = (count: number, seed: number): number[] =>
  Array.from(noise(count, seed, 400), (value) => 500 + Math.floor(value))

/** Pads rows of tokens to the longest; returns their ids and a mask of the real ones. */
function padded(rows: readonly number[][]): [ids: Tensor, valid: Tensor] {
  const longest = Math.max(...rows.map(({ length }) => length))
  const fill = (valueOf: (row: number[], i: number) => number) =>
    rows.map((row) => Array.from({ length: longest }, (_, i) => valueOf(row, i)))
  return [
    tf.tensor2d(
      fill((row, i) => row[i] ?? 0),
      undefined,
      'int32',
    ),
    tf.tensor2d(fill((row, i) => Number(i < row.length))),
  ]
}

/** Asserts that the second of two results, without its padding, equals the result alone. */
function assertSecondEqualsAlone(together: Tensor, alone: Tensor): void {
  const rest = alone.shape.slice(1)
  const second = tf.slice(together, [1, ...rest.map(() => 0)], [1, ...rest])
  const [ours, expected] = [second, alone].map((x) => x.dataSync<'float32'>())
  assert.equal(new Set(expected).size > rest.length, true, 'the answer is a constant')
  assertClose(ours!, expected!, { relative: 1e-5 })
}

test('T5 as wide as t5-base', () =>
  tf.tidy(() => {
    const config = {
      vocabulary: 1000,
      dim: 768,
      headDim: 64,
      heads: 12,
      hiddenDim: 3072,
      layers: 2,
      epsilon: 1e-6,
      buckets: 32,
      distanceMax: 128,
    }
    const t5 = loadT5(randomWeights(t5Shapes(config)), config)
    const [long, short] = [tokens(40, 1), tokens(7, 2)]
    const alone = t5.forward(...padded([short]))
    assert.deepEqual(alone.shape, [1, 7, 768])
    assertSecondEqualsAlone(t5.forward(...padded([long, short])), alone)
  }))

test('the span predictor as wide as pe-a-frame-large', () =>
  tf.tidy(() => {
    const config = {
      featureDim: 128,
      audio: {
        dim: 1792,
        hiddenDim: 4800,
        layers: 1,
        heads: 14,
        positionsMax: 10_000,
        theta: 20_000,
      },
      text: {
        vocabulary: 1000,
        dim: 1024,
        hiddenDim: 2624,
        heads: 16,
        layers: 3,
        epsilon: 1e-5,
        globalEvery: 3,
        nearMax: 64,
        globalTheta: 160_000,
        localTheta: 10_000,
      },
      textLayers: 2,
      dim: 1024,
    }
    const network = loadSpanNetwork(randomWeights(spanPredictorShapes(config)), config)
    const features = (frames: number, seed: number) =>
      tf.tensor3d(noise(frames * 128, seed, 3), [1, frames, 128])
    const short = features(23, 3)
    const both = tf.concat([
      features(60, 4),
      tf.pad(
        short,
        [
          [0, 0],
          [0, 37],
          [0, 0],
        ],
        7,
      ),
    ])
    assertSecondEqualsAlone(network.embedAudio(both, [60, 23]), network.embedAudio(short, [23]))
    const texts = [tokens(150, 5), tokens(9, 6)]
    assertSecondEqualsAlone(
      network.embedText(...padded(texts)),
      network.embedText(...padded([texts[1]!])),
    )
  }))
