/**
 * The published checkpoints of SAM-Audio: their configurations, and the names and shapes of their
 * tensors, all but those of the vision encoder, which is never read. Their origin:
 * models/sam-audio/published/sizes.json.
 */
import {
  closeSync,
  cpSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readFileSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { countOf } from '../../../models/checkpoint/stored-tensor.ts'
import type { T5Config } from '../../../models/sam-audio/text/t5-config.ts'
import { FIXTURES } from './tiny-sam-audio.ts'
import { t5Shapes } from './random-parts.ts'
import { readConfigEntry, type SamAudioConfig } from '../../../models/sam-audio/config.ts'
import {
  codecShapes,
  conditionShapes,
  transformerShapes,
  under,
  watermarkShapes,
  type Shapes,
  type WatermarkSizes,
} from './random-weights.ts'

export type PublishedSize = 'small' | 'base' | 'large'

interface PublishedConfig {
  sizes: Record<PublishedSize, { dim: number; n_heads: number; n_layers: number }>
  watermark: WatermarkSizes
  config: { transformer: object }
}

const FILE = new URL('../../../models/sam-audio/published/sizes.json', import.meta.url)

const published = JSON.parse(readFileSync(FILE, 'utf8')) as PublishedConfig

export const PUBLISHED_SIZES = Object.keys(published.sizes) as PublishedSize[]

export const PUBLISHED_WATERMARK = published.watermark

/** The `config.json` of a size, as it is published. */
export function publishedConfig(size: PublishedSize): object {
  const { config, sizes } = published
  const transformer = { ...config.transformer, ...sizes[size], context_dim: sizes[size].dim }
  return { ...config, transformer }
}

/**
 * Lays a folder as an operator has it: the model and T5 at their published sizes, all numbers 0 and
 * the files sparse, so that they take no room on the disk.
 */
export function layPublishedFolder(folder: string, size: PublishedSize): void {
  const t5 = { ...T5, n_positions: 512, feed_forward_proj: 'relu' }
  const parts: [string, object, Shapes][] = [
    [
      `sam-audio-${size}`,
      publishedConfig(size),
      checkpointShapes(publishedSizes(size), PUBLISHED_WATERMARK),
    ],
    ['t5-base', t5, t5Shapes(T5_SIZES)],
  ]
  for (const [name, config, shapes] of parts) {
    mkdirSync(join(folder, name), { recursive: true })
    writeFileSync(join(folder, name, 'config.json'), JSON.stringify(config))
    writeZeros(join(folder, name, 'model.safetensors'), shapes)
  }
  for (const name of ['tokenizer.json', 'tokenizer_config.json']) {
    cpSync(join(FIXTURES, 't5-tiny', name), join(folder, 't5-base', name))
  }
}

/** As t5-base publishes it; its tokenizer is not needed for sizes. */
const T5 = {
  model_type: 't5',
  vocab_size: 32_128,
  d_model: 768,
  d_kv: 64,
  d_ff: 3072,
  num_heads: 12,
  num_layers: 12,
  layer_norm_epsilon: 1e-6,
  relative_attention_num_buckets: 32,
  relative_attention_max_distance: 128,
}

const T5_SIZES: T5Config = {
  vocabulary: T5.vocab_size,
  dim: T5.d_model,
  headDim: T5.d_kv,
  heads: T5.num_heads,
  hiddenDim: T5.d_ff,
  layers: T5.num_layers,
  epsilon: T5.layer_norm_epsilon,
  buckets: T5.relative_attention_num_buckets,
  distanceMax: T5.relative_attention_max_distance,
}

/** A sparse safetensors file. */
export function writeZeros(file: string, shapes: Shapes): void {
  let at = 0
  const header = JSON.stringify(
    Object.fromEntries(
      Object.entries(shapes).map(([name, shape]) => {
        const begin = at
        at += 4 * countOf(shape)
        return [name, { dtype: 'F32', shape, data_offsets: [begin, at] }]
      }),
    ),
  )
  const handle = openSync(file, 'w')
  writeSync(handle, new Uint8Array(new BigUint64Array([BigInt(header.length)]).buffer))
  writeSync(handle, header)
  ftruncateSync(handle, 8 + header.length + at)
  closeSync(handle)
}

export const publishedSizes = (size: PublishedSize): SamAudioConfig =>
  readConfigEntry(size, publishedConfig(size))

/** Names and shapes of a checkpoint's tensors, the watermark's included. */
export function checkpointShapes(config: SamAudioConfig, watermark: WatermarkSizes): Shapes {
  const { codec, transformer } = config
  return {
    ...under('transformer', transformerShapes(transformer, 2 * codec.codebookDim)),
    ...under('audio_codec', codecShapes(codec)),
    ...under('audio_codec.decoder', watermarkShapes(codec, watermark)),
    ...conditionShapes(config),
  }
}
