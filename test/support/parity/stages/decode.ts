/** The codec's decoder without the reference's watermark, which Winnow does not add, and its parts. */
import { decodeLatents, loadCodec } from '../../../../models/sam-audio/codec/codec.ts'
import { runBlock, type Decoder } from '../../../../models/sam-audio/codec/decoder.ts'
import { readConfig } from '../../../../models/sam-audio/config.ts'
import { tf, type Tensor } from '../../../../models/tensorflow/tensor.ts'
import { Weights } from '../../../../models/checkpoint/weights.ts'
import { withTidy, type Comparison } from '../comparison.ts'
import type { GoldenFile } from '../golden-file.ts'
import type { Reference } from '../reference.ts'

export async function compareDecode(reference: Reference): Promise<Comparison[]> {
  const {
    config: { codec },
    checkpoint,
  } = await reference.part('model', readConfig)
  const golden = reference.golden('codec_decode.safetensors')
  return withTidy(() => {
    const { decoder } = loadCodec(Weights.open(checkpoint).at('audio_codec'), codec)
    const waves = decodeLatents(decoder, codec, golden.turned('features')).expandDims(1)
    return [golden.compare('waveform_no_watermark', waves), ...compareBlocks(decoder, golden)]
  })
}

/** Compares each part, given the reference's input to it. */
function compareBlocks(decoder: Decoder, golden: GoldenFile): Comparison[] {
  const compare = (part: (x: Tensor) => Tensor, from: string, to: string) =>
    golden.compareTurned(
      to,
      tf.tidy(() => part(golden.turned(from))),
    )
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
