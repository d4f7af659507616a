/**
 * The published checkpoints of SAM-Audio: their configurations, and the names and shapes of their
 * tensors, all but those of the vision encoder, which is never read. Their origin:
 * models/sam-audio/published/sizes.json.
 */
import { readFileSync } from 'node:fs'
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
