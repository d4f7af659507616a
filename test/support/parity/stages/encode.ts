/** Compares the codec's encoder: whole waves, and every part given the reference's input to it. */
import { encodeWaves } from '../../../../models/sam-audio/codec/codec.ts'
import { loadEncoder, runBlock, type Encoder } from '../../../../models/sam-audio/codec/encoder.ts'
import { readConfig, type CodecConfig } from '../../../../models/sam-audio/config.ts'
import { tf, type Tensor } from '../../../../models/tensorflow/tensor.ts'
import { Weights } from '../../../../models/checkpoint/weights.ts'
import { withTidy, type Comparison } from '../comparison.ts'
import type { GoldenFile } from '../golden-file.ts'
import type { Reference } from '../reference.ts'

export async function compareEncode(reference: Reference): Promise<Comparison[]> {
  const {
    config: { codec },
    checkpoint,
  } = await reference.part('model', readConfig)
  const golden = reference.golden('codec_encode.safetensors')
  return withTidy(() => {
    const encoder = loadEncoder(Weights.open(checkpoint).at('audio_codec'), codec)
    return [
      ...compareWaves(encoder, codec, golden),
      ...compareBlocks(encoder, golden),
      ...compareParts(encoder, golden),
    ]
  })
}

/**
 * Compares only the longest wave of a batch: in the reference, the padding of shorter ones leaks
 * into their last frames.
 */
function compareWaves(encoder: Encoder, codec: CodecConfig, golden: GoldenFile): Comparison[] {
  const features = (waves: readonly Float32Array[]) => encodeWaves(encoder, codec, waves).features
  const [batch, , samples] = golden.shape('waveform') as [number, number, number]
  const flat = Float32Array.from(golden.values('waveform'))
  const waves = Array.from({ length: batch }, (_, i) => flat.slice(i * samples, (i + 1) * samples))
  const longest = waves.findIndex((wave) => wave.at(-1) !== 0)
  const first = tf.tidy(() => toReference(tf.slice(features(waves), [longest, 0, 0], [1, -1, -1])))
  const alone = golden.names
    .filter((name) => /^n\d+\.waveform$/.test(name))
    .map((name) => name.replace('.waveform', ''))
  return [
    golden.compareRow('features', longest, first, `row ${longest}, the longest of the batch`),
    ...alone.map((item) => {
      const wave = Float32Array.from(golden.values(`${item}.waveform`))
      return golden.compareTurned(`${item}.features`, features([wave]), 'alone')
    }),
  ]
}

/** Compares blocks on the reference's own padded batch, all of whose frames are treated as real. */
function compareBlocks(encoder: Encoder, golden: GoldenFile): Comparison[] {
  const { first, blocks, snake, last } = encoder
  const steps: ((x: Tensor) => Tensor)[] = [
    first,
    ...blocks.map((block) => (x: Tensor) => runBlock(block, x, null, null)),
    snake,
    last,
  ]
  return steps.map((step, i) => {
    const input = i === 0 ? 'padded_waveform' : `enc.block.${i - 1}`
    return golden.compareTurned(
      `enc.block.${i}`,
      tf.tidy(() => step(golden.turned(input))),
    )
  })
}

/** Compares the items whose inner states were stored. */
function compareParts({ blocks, last, snake, project }: Encoder, golden: GoldenFile): Comparison[] {
  const compare = (part: (x: Tensor) => Tensor, from: string, to: string) =>
    golden.compareTurned(
      to,
      tf.tidy(() => part(golden.turned(from))),
    )
  const items = golden.names
    .filter((name) => name.endsWith('.in_proj'))
    .map((name) => name.replace('.in_proj', ''))
  return items.flatMap((item) => [
    ...blocks.flatMap(({ units, snake: inner, down }, i) => {
      const at = `${item}.enc.block.${i + 1}`
      const end = units.length
      return [
        // The input of a block's first unit is not stored.
        ...units
          .slice(1)
          .map((unit, k) => compare((x) => unit(x, null), `${at}.${k}`, `${at}.${k + 1}`)),
        compare(inner, `${at}.${end - 1}`, `${at}.${end}`),
        compare(down, `${at}.${end}`, `${at}.${end + 1}`),
      ]
    }),
    compare(
      (x) => project(last(snake(x))),
      `${item}.enc.block.${blocks.length}.${blocks[0]!.units.length + 1}`,
      `${item}.in_proj`,
    ),
  ])
}

/** Converts [batch, frames, channels] to the reference's [batch, channels, frames]. */
const toReference = (x: Tensor): Tensor => tf.transpose(x, [0, 2, 1])
