/** The codec's encoder against the reference: `golden/codec_encode.safetensors`. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { encodeWaves, mirrorTo } from '../../../models/sam-audio/codec/codec.ts'
import { loadEncoder } from '../../../models/sam-audio/codec/encoder.ts'
import { hopOf, readConfig } from '../../../models/sam-audio/config.ts'
import { Weights } from '../../../models/checkpoint/weights.ts'
import { assertClose } from '../../support/basics/assert-close.ts'
import { counted } from '../../support/models/golden.ts'
import { noise } from '../../support/models/lanes.ts'
import { fc } from '../../support/basics/property.ts'
import { CHECKPOINT, CONFIG } from '../../support/models/tiny-sam-audio.ts'
import { testStage } from './stages.ts'

testStage('encode')

const { codec: config } = await readConfig(CONFIG)
const hop = hopOf(config)
const encoder = loadEncoder(Weights.open(CHECKPOINT).at('audio_codec'), config)

/** A row that fits in one slice is padded to a multiple of `shortStep`. */
interface SliceSizes {
  sliceFrames?: number
  shortStep?: number
}

const sliceSizes = fc.record({
  sliceFrames: fc.integer({ min: 1, max: 40 }),
  shortStep: fc.constantFrom(1, 16),
})

/** Features reach 5, where float32 itself has steps of 5e-7. */
const NEAR = { absolute: 1e-5, relative: 2e-6 }

/** Returns the features of each wave as a flat array. */
function encode(waves: readonly Float32Array[], sizes: SliceSizes = {}): Float32Array[] {
  const { features, rows } = encodeWaves(encoder, config, waves, sizes)
  const width = config.codebookDim
  const longest = features.shape[1]!
  const flat = features.dataSync<'float32'>()
  features.dispose()
  return rows.map((frames, i) => flat.slice(i * longest * width, (i * longest + frames) * width))
}

test('a wave gives the same features alone, padded and in any batch', () => {
  const lengths = fc.array(fc.integer({ min: 1, max: 20 * hop }), { minLength: 2, maxLength: 5 })
  fc.assert(
    fc.property(lengths, fc.nat(), (samples, seed) => {
      const waves = samples.map((length, i) => noise(length, seed + i))
      const together = encode(waves)
      for (const [i, wave] of waves.entries()) {
        assertClose(together[i]!, encode([wave])[0]!, NEAR)
      }
    }),
    { numRuns: 12 },
  )
})

test('slices of any length give the same as the whole', () => {
  const lengths = fc.array(fc.integer({ min: 1, max: 30 * hop }), { minLength: 1, maxLength: 3 })
  fc.assert(
    fc.property(lengths, sliceSizes, fc.nat(), (samples, sizes, seed) => {
      const waves = samples.map((length, i) => noise(length, seed + i))
      const whole = encode(waves)
      for (const [i, features] of encode(waves, sizes).entries()) {
        assertClose(features, whole[i]!, NEAR)
      }
    }),
    { numRuns: 12 },
  )
})

test('nothing but the features is left behind', () => {
  const waves = [noise(3 * hop, 1), noise(9 * hop + 1, 2)]
  counted(
    () => encodeWaves(encoder, config, waves, { sliceFrames: 4 }).features,
    ({ shape }) => assert.deepEqual(shape, [2, 10, config.codebookDim]),
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
