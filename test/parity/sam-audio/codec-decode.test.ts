/** The codec's decoder against the reference, part by part: `golden/codec_decode.safetensors`. */
import { test } from 'node:test'
import fc from 'fast-check'
import { decodeLatents, loadCodec } from '../../../models/sam-audio/codec/codec.ts'
import { runBlock } from '../../../models/sam-audio/codec/decoder.ts'
import { loadWatermark } from '../../../models/sam-audio/codec/watermark.ts'
import { hopOf, readConfig } from '../../../models/sam-audio/config.ts'
import { tf, type Tensor } from '../../../models/tensor.ts'
import { Weights } from '../../../models/weights.ts'
import { assertClose } from '../../support/assert-close.ts'
import { counted } from '../golden.ts'
import { noise } from '../lanes.ts'
import { CHECKPOINT, CONFIG, openGolden } from './golden.ts'

const golden = openGolden('codec_decode.safetensors')
const { codec: config } = await readConfig(CONFIG)
const hop = hopOf(config)
const weights = Weights.open(CHECKPOINT).at('audio_codec')
const { decoder } = loadCodec(weights, config)
const watermark = loadWatermark(weights.at('decoder'), config.decoderRates.length)

test('latents decode to the reference\'s clean waves', () => {
  const run = () => tf.tidy(() => decodeLatents(decoder, config, golden.turned('features')))
  counted(run, (waves) => golden.assertEqual(waves, 'waveform_no_watermark'))
})

for (const [message, wave] of [['message', 'waveform'], ['message2', 'waveform_message2']] as const) {
  test(`with the mark of ${message} they are its ${wave}`, () => {
    const run = () => tf.tidy(() => {
      const clean = decodeLatents(decoder, config, golden.turned('features')).expandDims(2)
      return watermark.forward(clean, golden.tensor(message))
    })
    counted(run, (marked) => golden.assertTurned(marked, wave))
  })
}

test('every block agrees', () => {
  checkPart((x) => decoder.project(x), 'features', 'out_proj')
  checkPart((x) => decoder.first(x), 'out_proj', 'dec.model.0')
  for (const [i, block] of decoder.blocks.entries()) {
    checkPart((x) => runBlock(block, x, null), `dec.model.${i}`, `dec.model.${i + 1}`)
  }
  const ends = `dec.model.${decoder.blocks.length}`
  checkPart((x) => decoder.last(decoder.snake(x)), ends, 'wm.encoder_pre_1')
})

test('every part of the first block agrees', () => {
  const { snake, up, units } = decoder.blocks[0]!
  const at = 'dec.model.1.block'
  checkPart(snake, 'dec.model.0', `${at}.0`)
  checkPart(up, `${at}.0`, `${at}.1`)
  for (const [i, [from, to]] of ([[1, 4], [4, 5], [5, 8]] as const).entries()) {
    checkPart((x) => units[i]!(x, null), `${at}.${from}`, `${at}.${to}`)
  }
})

test('every part of the watermark agrees', () => {
  const last = watermark.blocks.length
  checkPart(watermark.spread, 'wm.encoder_pre_2_tanh', 'wm.encoder_pre_3')
  for (let i = last; i > 0; i -= 1) {
    const from = i === last ? 'wm.encoder_pre_3' : `wm.down_block.${i + 1}`
    checkPart(watermark.blocks[i - 1]!.down, from, `wm.down_block.${i}`)
  }
  checkPart(watermark.remember, 'wm.down_block.1', 'wm.encoder_lstm')
  checkPart((x) => watermark.code(tf.elu(x)), 'wm.encoder_lstm', 'wm.encoder_post')
  checkPart((x) => x.add(watermark.messageCode(golden.tensor('message'))),
    'wm.encoder_post', 'wm.message_added')
  checkPart(watermark.decode, 'wm.message_added', 'wm.decoder_pre_0')
  checkPart(watermark.recall, 'wm.decoder_pre_0', 'wm.decoder_pre')
  for (let i = 1; i <= last; i += 1) {
    const from = i === 1 ? 'wm.decoder_pre' : `wm.up_block.${i - 1}`
    checkPart((x) => watermark.blocks[i - 1]!.upsample(tf.elu(x)), from, `wm.up_convtr.${i}`)
    checkPart(watermark.blocks[i - 1]!.up, from, `wm.up_block.${i}`)
  }
  checkPart((x) => watermark.gather(tf.elu(x)), `wm.up_block.${last}`, 'wm.decoder_post')
})

test('latents decode to the same alone, padded and in any company', () => {
  const lengths = fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 2, maxLength: 4 })
  fc.assert(fc.property(lengths, fc.nat(), (rows, seed) => {
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
  }), { numRuns: 10 })
})

test('slices decode to what the whole decodes to, whatever their length', () => {
  const cases = { frames: fc.integer({ min: 1, max: 70 }), slice: fc.integer({ min: 1, max: 30 }) }
  fc.assert(fc.property(fc.record(cases), fc.nat(), ({ frames, slice }, seed) => {
    const latents = latentsOf([2, frames], seed)
    const whole = decoded(latents, null, frames)
    assertClose(decoded(latents, null, slice), whole, { absolute: 1e-5 })
    latents.dispose()
  }), { numRuns: 12 })
})

/** Of tensors of the reference's shape. */
function checkPart(part: (x: Tensor) => Tensor, from: string, to: string): void {
  counted(() => tf.tidy(() => part(golden.turned(from))), (x) => golden.assertTurned(x, to))
}

function latentsOf([batch, frames]: [number, number], seed: number): Tensor {
  const size = batch * frames * config.codebookDim
  return tf.tensor3d(noise(size, seed, 3), [batch, frames, config.codebookDim])
}

function decoded(latents: Tensor, rows: number[] | null = null, slice?: number): Float32Array {
  const waves = decodeLatents(decoder, config, latents, rows, slice)
  const samples = waves.dataSync<'float32'>()
  waves.dispose()
  return samples
}
