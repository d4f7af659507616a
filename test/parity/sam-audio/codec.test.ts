/** The codec gives the same in slices, which bound the memory it takes. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  decodeLatents,
  encodeWaves,
  loadCodec,
  mirrorTo,
} from '../../../models/sam-audio/codec/codec.ts'
import { hopOf, readConfig } from '../../../models/sam-audio/config.ts'
import { tf, type Tensor } from '../../../models/tensorflow/tensor.ts'
import { Weights } from '../../../models/checkpoint/weights.ts'
import { assertClose } from '../../support/basics/assert-close.ts'
import { counted } from '../../support/models/golden.ts'
import { noise } from '../../support/models/lanes.ts'
import { codecShapes, PUBLISHED_CODEC, randomWeights } from '../../support/models/random-weights.ts'
import { fc } from '../../support/basics/property.ts'
import { CHECKPOINT, CONFIG } from '../../support/models/tiny-sam-audio.ts'

const { codec: config } = await readConfig(CONFIG)
const hop = hopOf(config)
const { encoder, decoder } = loadCodec(Weights.open(CHECKPOINT).at('audio_codec'), config)

/** Features reach 5, where float32 itself has steps of 5e-7. */
const NEAR = { absolute: 1e-5, relative: 2e-6 }

function valuesOf(x: Tensor): Float32Array {
  const values = x.dataSync<'float32'>()
  x.dispose()
  return values
}

/** A row that fits in one slice is padded to a multiple of `shortStep`. */
const shortStep = fc.constantFrom(1, 16)

test('slices of any length encode to the same as the whole, and leave nothing behind', () => {
  const sizes = fc.record({ sliceFrames: fc.integer({ min: 1, max: 40 }), shortStep })
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 30 * hop }), sizes, fc.nat(), (samples, sizes, seed) => {
      const waves = [noise(samples, seed)]
      const whole = valuesOf(encodeWaves(encoder, config, waves).features)
      counted(
        () => encodeWaves(encoder, config, waves, sizes).features,
        (features) => assertClose(features.dataSync<'float32'>(), whole, NEAR),
      )
    }),
    { numRuns: 12 },
  )
})

test('slices of any length decode to the same as the whole', () => {
  const sizes = fc.record({ sliceFrames: fc.integer({ min: 1, max: 30 }), shortStep })
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 70 }), sizes, fc.nat(), (frames, sizes, seed) => {
      const width = config.codebookDim
      const latents = tf.tensor3d(noise(2 * frames * width, seed, 3), [2, frames, width])
      const [whole, sliced] = [{ sliceFrames: frames }, sizes].map((each) =>
        valuesOf(decodeLatents(decoder, config, latents, null, each)),
      )
      assertClose(sliced!, whole!, { absolute: 1e-5 })
      latents.dispose()
    }),
    { numRuns: 12 },
  )
})

test('a wave is mirrored at its end, repeatedly if it is short', () => {
  const mirrored = (wave: number[], length: number) =>
    Array.from(mirrorTo(Float32Array.from(wave), length))
  assert.deepEqual(mirrored([1, 2, 3], 5), [1, 2, 3, 2, 1])
  assert.deepEqual(mirrored([1, 2], 5), [1, 2, 1, 2, 1])
  assert.deepEqual(mirrored([1], 3), [1, 1, 1])
  assert.deepEqual(mirrored([1, 2, 3], 3), [1, 2, 3])
})

test('the codec of the published checkpoints does so too, by frames of 1,920 samples', () => {
  const published = loadCodec(randomWeights(codecShapes(PUBLISHED_CODEC)), PUBLISHED_CODEC)
  assert.equal(hopOf(PUBLISHED_CODEC), 1_920)
  const wave = noise(16 * 1_920 - 100, 1)
  const [whole, sliced] = [100, 6].map(
    (sliceFrames) =>
      encodeWaves(published.encoder, PUBLISHED_CODEC, [wave], { sliceFrames }).features,
  )
  assert.deepEqual(whole!.shape, [1, 16, 128])
  assertClose(sliced!.dataSync<'float32'>(), whole!.dataSync<'float32'>(), { relative: 1e-5 })
  const waves = [100, 7].map((sliceFrames) =>
    decodeLatents(published.decoder, PUBLISHED_CODEC, whole!, null, { sliceFrames }),
  )
  assert.deepEqual(waves[0]!.shape, [1, 16 * 1_920])
  assertClose(waves[1]!.dataSync<'float32'>(), waves[0]!.dataSync<'float32'>(), { absolute: 1e-5 })
})
