/** The codec's decoder with and without the reference's watermark, and every part of both. */
import { decodeLatents, loadCodec } from '../../../../models/sam-audio/codec/codec.ts'
import { runBlock, type Decoder } from '../../../../models/sam-audio/codec/decoder.ts'
import { readConfig } from '../../../../models/sam-audio/config.ts'
import { tf, type Tensor } from '../../../../models/tensorflow/tensor.ts'
import { Weights } from '../../../../models/checkpoint/weights.ts'
import { withTidy, type Comparison } from '../comparison.ts'
import type { GoldenFile } from '../golden-file.ts'
import type { Reference } from '../reference.ts'
import { loadWatermark, type Watermark } from '../watermark.ts'

export async function compareDecode(reference: Reference): Promise<Comparison[]> {
  const {
    config: { codec },
    checkpoint,
  } = await reference.part('model', readConfig)
  const golden = reference.golden('codec_decode.safetensors')
  return withTidy(() => {
    const weights = Weights.open(checkpoint).at('audio_codec')
    const { decoder } = loadCodec(weights, codec)
    const watermark = loadWatermark(weights.at('decoder'), codec.decoderRates.length)
    const clean = decodeLatents(decoder, codec, golden.turned('features')).expandDims(2)
    const marked = (message: string) => watermark.forward(clean, golden.tensor(message))
    return [
      golden.compareTurned('waveform', marked('message')),
      golden.compareTurned('waveform_message2', marked('message2')),
      golden.compareTurned('waveform_no_watermark', clean),
      ...compareBlocks(decoder, golden),
      ...compareWatermark(watermark, golden),
    ]
  })
}

type Part = (x: Tensor) => Tensor

/** Returns a function that compares a part, given the reference's input to it. */
const comparing = (golden: GoldenFile) => (part: Part, from: string, to: string) =>
  golden.compareTurned(
    to,
    tf.tidy(() => part(golden.turned(from))),
  )

function compareBlocks(decoder: Decoder, golden: GoldenFile): Comparison[] {
  const compare = comparing(golden)
  const { snake, up, units } = decoder.blocks[0]!
  const at = 'dec.model.1.block'
  const places = [
    [1, 4],
    [4, 5],
    [5, 8],
  ] as const // positions of the units
  return [
    compare(decoder.project, 'features', 'out_proj'),
    compare(decoder.first, 'out_proj', 'dec.model.0'),
    ...decoder.blocks.map((block, i) =>
      compare((x) => runBlock(block, x, null), `dec.model.${i}`, `dec.model.${i + 1}`),
    ),
    compare(
      (x) => decoder.last(decoder.snake(x)),
      `dec.model.${decoder.blocks.length}`,
      'wm.encoder_pre_1',
    ),
    compare(snake, 'dec.model.0', `${at}.0`),
    compare(up, `${at}.0`, `${at}.1`),
    ...places.map(([from, to], i) =>
      compare((x) => units[i]!(x, null), `${at}.${from}`, `${at}.${to}`),
    ),
  ]
}

function compareWatermark(watermark: Watermark, golden: GoldenFile): Comparison[] {
  const compare = comparing(golden)
  const { blocks } = watermark
  const last = blocks.length
  const before = (i: number) => (i === last ? 'wm.encoder_pre_3' : `wm.down_block.${i + 1}`)
  const after = (i: number) => (i === 1 ? 'wm.decoder_pre' : `wm.up_block.${i - 1}`)
  return [
    compare(watermark.encoderIn, 'wm.encoder_pre_2_tanh', 'wm.encoder_pre_3'),
    ...blocks.map(({ down }, i) => compare(down, before(i + 1), `wm.down_block.${i + 1}`)),
    compare(watermark.encoderLstm, 'wm.down_block.1', 'wm.encoder_lstm'),
    compare((x) => watermark.encoderOut(tf.elu(x)), 'wm.encoder_lstm', 'wm.encoder_post'),
    compare(
      (x) => x.add(watermark.messageCode(golden.tensor('message'))),
      'wm.encoder_post',
      'wm.message_added',
    ),
    compare(watermark.decoderIn, 'wm.message_added', 'wm.decoder_pre_0'),
    compare(watermark.decoderLstm, 'wm.decoder_pre_0', 'wm.decoder_pre'),
    ...blocks.flatMap(({ upsample, up }, i) => [
      compare((x) => upsample(tf.elu(x)), after(i + 1), `wm.up_convtr.${i + 1}`),
      compare(up, after(i + 1), `wm.up_block.${i + 1}`),
    ]),
    compare((x) => watermark.decoderOut(tf.elu(x)), `wm.up_block.${last}`, 'wm.decoder_post'),
  ]
}
