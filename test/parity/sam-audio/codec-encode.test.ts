/** The codec's encoder against the reference, part by part: `golden/codec_encode.safetensors`. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { encodeWaves, mirroredTo } from '../../../models/sam-audio/codec/codec.ts'
import { loadEncoder, runBlock } from '../../../models/sam-audio/codec/encoder.ts'
import { hopOf, readConfig } from '../../../models/sam-audio/config.ts'
import { tf, type Tensor } from '../../../models/tensor.ts'
import { Weights } from '../../../models/weights.ts'
import { assertClose } from '../../support/assert-close.ts'
import { counted } from '../golden.ts'
import { noise } from '../lanes.ts'
import { CHECKPOINT, CONFIG, openGolden } from './golden.ts'

const golden = openGolden('codec_encode.safetensors')
const { codec: config } = await readConfig(CONFIG)
const hop = hopOf(config)
const encoder = loadEncoder(Weights.open(CHECKPOINT).at('audio_codec'), config)

const waveOf = (name: string) => Float32Array.from(golden.values(name))

/** Features of one wave as flat numbers. */
function encode(waves: readonly Float32Array[], sliceFrames?: number): Float32Array[] {
  const { features, rows } = encodeWaves(encoder, config, waves, sliceFrames)
  const width = config.codebookDim
  const longest = features.shape[1]!
  const flat = features.dataSync<'float32'>()
  features.dispose()
  return rows.map((frames, i) =>
    flat.slice(i * longest * width, (i * longest + frames) * width))
}

function goldenRow(name: string, row: number, frames: number): Float32Array {
  return tf.tidy(() => tf.slice(golden.turned(name), [row, 0, 0], [1, frames, -1]))
    .dataSync<'float32'>()
}

for (const samples of [60, 96, 333]) {
  test(`${samples} samples alone give the reference's features`, () => {
    const [features] = encode([waveOf(`n${samples}.waveform`)])
    const frames = Math.ceil(samples / hop)
    assertClose(features!, goldenRow(`n${samples}.features`, 0, frames),
      { absolute: golden.tolerance(`n${samples}.features`) })
  })
}

test('the longest wave of a batch gives the reference\'s features', () => {
  const [batch, , samples] = golden.shape('waveform') as [number, number, number]
  const flat = waveOf('waveform')
  const waves = Array.from({ length: batch }, (_, i) =>
    flat.slice(i * samples, (i + 1) * samples))
  const features = encode(waves)
  assertClose(features[0]!, goldenRow('features', 0, golden.shape('features')[2]!),
    { absolute: golden.tolerance('features') })
})

/** Of the reference's own padded batch, with every frame taken for real. */
test('every block agrees', () => {
  const input = golden.turned('padded_waveform') // [batch, samples, 1]
  counted(() => encoder.first(input), (x) => golden.assertTurned(x, 'enc.block.0'))
  for (const [i, block] of encoder.blocks.entries()) {
    const run = () => tf.tidy(() => runBlock(block, golden.turned(`enc.block.${i}`), null, null))
    counted(run, (x) => golden.assertTurned(x, `enc.block.${i + 1}`))
  }
  const ends = encoder.blocks.length + 1
  counted(() => tf.tidy(() => encoder.snake(golden.turned(`enc.block.${ends - 1}`))),
    (x) => golden.assertTurned(x, `enc.block.${ends}`))
  counted(() => tf.tidy(() => encoder.last(golden.turned(`enc.block.${ends}`))),
    (x) => golden.assertTurned(x, `enc.block.${ends + 1}`))
  input.dispose()
})

test('every part of every block agrees', () => {
  for (const [i, { units, snake, down }] of encoder.blocks.entries()) {
    const at = `n333.enc.block.${i + 1}`
    for (const [k, unit] of units.entries()) {
      if (k === 0) continue // what goes in is stored of the later ones only
      const run = () => tf.tidy(() => unit(golden.turned(`${at}.${k - 1}`), null))
      counted(run, (x) => golden.assertTurned(x, `${at}.${k}`))
    }
    const checks: [Tensor, string][] = tf.tidy(() => [
      [snake(golden.turned(`${at}.2`)), `${at}.3`],
      [down(golden.turned(`${at}.3`)), `${at}.4`],
    ])
    for (const [x, name] of checks) golden.assertTurned(x, name)
    tf.dispose(checks)
  }
})

test('the projection agrees, of which the first half are the features', () => {
  const run = () => encodeWaves(encoder, config, [waveOf('n333.waveform')]).features
  const first = config.codebookDim
  counted(run, (x) => {
    const golden128 = tf.tidy(() => tf.slice(golden.turned('n333.in_proj'), [0, 0, 0], [-1, -1, first]))
    assertClose(x.dataSync<'float32'>(), golden128.dataSync<'float32'>(),
      { absolute: golden.tolerance('n333.in_proj') })
    golden128.dispose()
  })
})

test('a wave gives the same features alone, padded and in any company', () => {
  const lengths = fc.array(fc.integer({ min: 1, max: 20 * hop }), { minLength: 2, maxLength: 5 })
  fc.assert(fc.property(lengths, fc.nat(), (samples, seed) => {
    const waves = samples.map((length, i) => noise(length, seed + i))
    const together = encode(waves)
    for (const [i, wave] of waves.entries()) {
      assertClose(together[i]!, encode([wave])[0]!, { absolute: 1e-5 })
    }
  }), { numRuns: 12 })
})

test('slices give what the whole gives, whatever their length', () => {
  const lengths = fc.array(fc.integer({ min: 1, max: 30 * hop }), { minLength: 1, maxLength: 3 })
  fc.assert(fc.property(lengths, fc.integer({ min: 1, max: 12 }), fc.nat(), (samples, slice, seed) => {
    const waves = samples.map((length, i) => noise(length, seed + i))
    const whole = encode(waves)
    for (const [i, features] of encode(waves, slice).entries()) {
      assertClose(features, whole[i]!, { absolute: 1e-5 })
    }
  }), { numRuns: 12 })
})

test('a wave is mirrored at its end, over and over when it is short', () => {
  const mirrored = (wave: number[], length: number) =>
    Array.from(mirroredTo(Float32Array.from(wave), length))
  assert.deepEqual(mirrored([1, 2, 3], 5), [1, 2, 3, 2, 1])
  assert.deepEqual(mirrored([1, 2], 5), [1, 2, 1, 2, 1])
  assert.deepEqual(mirrored([1], 3), [1, 1, 1])
  assert.deepEqual(mirrored([1, 2, 3], 3), [1, 2, 3])
})
