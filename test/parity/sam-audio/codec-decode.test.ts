/** The codec's decoder against the reference: `golden/codec_decode.safetensors`. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeLatents, loadCodec } from '../../../models/sam-audio/codec/codec.ts'
import { loadWatermark } from '../../support/parity/watermark.ts'
import { hopOf, readConfig } from '../../../models/sam-audio/config.ts'
import { tf, type Tensor } from '../../../models/tensorflow/tensor.ts'
import { Weights } from '../../../models/checkpoint/weights.ts'
import { assertClose } from '../../support/basics/assert-close.ts'
import { counted } from '../../support/models/golden.ts'
import { noise } from '../../support/models/lanes.ts'
import { fc } from '../../support/basics/property.ts'
import { CHECKPOINT, CONFIG } from '../../support/models/tiny-sam-audio.ts'
import { testStage } from './stages.ts'

testStage('decode')

const { codec: config } = await readConfig(CONFIG)
const hop = hopOf(config)
const weights = Weights.open(CHECKPOINT).at('audio_codec')
const { decoder } = loadCodec(weights, config)
const watermark = loadWatermark(weights.at('decoder'), config.decoderRates.length)

test('latents decode to the same alone, padded and in any batch', () => {
  const lengths = fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 2, maxLength: 4 })
  fc.assert(
    fc.property(lengths, fc.nat(), (rows, seed) => {
      const longest = Math.max(...rows)
      const latents = latentsOf([rows.length, longest], seed)
      const together = decoded(latents, rows)
      for (const [i, frames] of rows.entries()) {
        const alone = tf.tidy(() => tf.slice(latents, [i, 0, 0], [1, frames, -1]))
        const start = i * longest * hop
        assertClose(together.slice(start, start + frames * hop), decoded(alone), { absolute: 1e-5 })
        alone.dispose()
      }
      latents.dispose()
    }),
    { numRuns: 10 },
  )
})

test('slices of any length decode to the same as the whole', () => {
  const cases = {
    frames: fc.integer({ min: 1, max: 70 }),
    sliceFrames: fc.integer({ min: 1, max: 30 }),
    shortStep: fc.constantFrom(1, 16),
  }
  fc.assert(
    fc.property(fc.record(cases), fc.nat(), ({ frames, ...sizes }, seed) => {
      const latents = latentsOf([2, frames], seed)
      const whole = decoded(latents, null, { sliceFrames: frames })
      assertClose(decoded(latents, null, sizes), whole, { absolute: 1e-5 })
      latents.dispose()
    }),
    { numRuns: 12 },
  )
})

test('what pads a row changes nothing of its watermark, and nothing is left behind', () => {
  const samples = 4 * hop
  const alone = tf.tensor3d(noise(samples, 1), [1, samples, 1])
  const padded = tf.tidy(() =>
    alone.pad(
      [
        [0, 0],
        [0, 2 * hop],
        [0, 0],
      ],
      0.5,
    ),
  )
  const message = tf.tensor2d(
    Array.from({ length: watermark.bits }, (_, i) => i % 2),
    [1, watermark.bits],
  )
  const marked = watermark.forward(alone, message)
  counted(
    () => watermark.forward(padded, message),
    (long) => {
      const same = long.dataSync<'float32'>().slice(0, samples)
      assertClose(same, marked.dataSync<'float32'>(), { absolute: 1e-5 })
      assert.notDeepEqual(same, alone.dataSync())
    },
  )
  tf.dispose([alone, padded, message, marked])
})

function latentsOf([batch, frames]: [number, number], seed: number): Tensor {
  const size = batch * frames * config.codebookDim
  return tf.tensor3d(noise(size, seed, 3), [batch, frames, config.codebookDim])
}

function decoded(
  latents: Tensor,
  rows: number[] | null = null,
  sizes: { sliceFrames?: number; shortStep?: number } = {},
): Float32Array {
  const waves = decodeLatents(decoder, config, latents, rows, sizes)
  const samples = waves.dataSync<'float32'>()
  waves.dispose()
  return samples
}
