/** The codec and the flow network at sizes other than the fixture's, with random weights. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeLatents, encodeWaves, loadCodec } from '../../../models/sam-audio/codec/codec.ts'
import { hopOf } from '../../../models/sam-audio/config.ts'
import { rowMask } from '../../../models/sam-audio/layers/row-mask.ts'
import { loadTransformer } from '../../../models/sam-audio/flow/transformer.ts'
import { tf } from '../../../models/tensorflow/tensor.ts'
import { assertClose } from '../../support/basics/assert-close.ts'
import {
  codecShapes,
  PUBLISHED_CODEC as CODEC,
  randomWeights,
  transformerShapes,
} from '../../support/models/random-weights.ts'
import { noise } from '../../support/models/lanes.ts'

test('the codec of the published checkpoints gives the same in slices, by frames of 1,920 samples', () => {
  const { encoder, decoder } = loadCodec(randomWeights(codecShapes(CODEC)), CODEC)
  const hop = hopOf(CODEC)
  assert.equal(hop, 1_920)
  const wave = noise(16 * hop - 100, 1)
  const [whole, sliced] = [100, 6].map(
    (sliceFrames) => encodeWaves(encoder, CODEC, [wave], { sliceFrames }).features,
  )
  assert.deepEqual(whole!.shape, [1, 16, 128])
  assertClose(sliced!.dataSync<'float32'>(), whole!.dataSync<'float32'>(), { relative: 1e-5 })
  const waves = [100, 7].map((sliceFrames) =>
    decodeLatents(decoder, CODEC, whole!, null, { sliceFrames }),
  )
  assert.deepEqual(waves[0]!.shape, [1, 16 * hop])
  assertClose(waves[1]!.dataSync<'float32'>(), waves[0]!.dataSync<'float32'>(), { absolute: 1e-5 })
})

test('in a transformer of medium size a row gives the same alone and in a batch', () => {
  const sizes = {
    dim: 512,
    heads: 8,
    layers: 2,
    feedForwardDim: 1408,
    positionsMax: 1_000,
    timeDim: 256,
    contextDim: 512,
  }
  const { embedTime, forward } = loadTransformer(
    randomWeights(transformerShapes(sizes, 256)),
    sizes,
    256,
  )
  const x = tf.randomNormal([2, 60, 512], 0, 1, 'float32', 1)
  const memory = tf.randomNormal([2, 9, 512], 0, 1, 'float32', 2)
  const together = tf.tidy(() =>
    forward({
      x,
      memory,
      time: embedTime([0.2, 0.7]),
      frames: rowMask([60, 41], 60),
      textKeys: null,
    }),
  )
  const alone = tf.tidy(() =>
    forward({
      x: tf.slice(x, [1, 0, 0], [1, 41, -1]),
      memory: tf.slice(memory, [1, 0, 0], [1, -1, -1]),
      time: embedTime([0.7]),
      frames: null,
      textKeys: null,
    }),
  )
  const row = tf.tidy(() => tf.slice(together, [1, 0, 0], [1, 41, -1]))
  assertClose(row.dataSync<'float32'>(), alone.dataSync<'float32'>(), { absolute: 2e-5 })
})
