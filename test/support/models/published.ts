/**
 * Describes the published checkpoints of SAM-Audio: their configurations, and the names and shapes
 * of their tensors, except those of the vision encoder, which is never read. Source:
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

/** Returns the published `config.json` of a size. */
function publishedConfig(size: PublishedSize): object {
  const { config, sizes } = published
  const transformer = { ...config.transformer, ...sizes[size], context_dim: sizes[size].dim }
  return { ...config, transformer }
}

export const publishedSizes = (size: PublishedSize): SamAudioConfig =>
  readConfigEntry(size, publishedConfig(size))

/** Returns the names and shapes of a checkpoint's tensors, including the watermark's. */
export function checkpointShapes(config: SamAudioConfig, watermark: WatermarkSizes): Shapes {
  const { codec, transformer } = config
  return {
    ...under('transformer', transformerShapes(transformer, 2 * codec.codebookDim)),
    ...under('audio_codec', codecShapes(codec)),
    ...under('audio_codec.decoder', watermarkShapes(codec, watermark)),
    ...conditionShapes(config),
  }
}
