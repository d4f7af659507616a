/**
 * Describes the published checkpoints of SAM-Audio: their configurations, and the names and shapes
 * of their tensors, except those of the vision encoder and the watermark, which a separation never
 * reads. Source: models/sam-audio/published/sizes.json.
 */
import { readFileSync } from 'node:fs'
import { readConfigEntry, type SamAudioConfig } from '../../../models/sam-audio/config.ts'
import {
  codecShapes,
  conditionShapes,
  transformerShapes,
  under,
  type Shapes,
} from './random-weights.ts'

export type PublishedSize = 'small' | 'base' | 'large'

interface PublishedConfig {
  sizes: Record<PublishedSize, { dim: number; n_heads: number; n_layers: number }>
  config: { transformer: object }
}

const FILE = new URL('../../../models/sam-audio/published/sizes.json', import.meta.url)

const published = JSON.parse(readFileSync(FILE, 'utf8')) as PublishedConfig

export function publishedSizes(size: PublishedSize): SamAudioConfig {
  const { config, sizes } = published
  const transformer = { ...config.transformer, ...sizes[size], context_dim: sizes[size].dim }
  return readConfigEntry(size, { ...config, transformer })
}

/** Returns the names and shapes of the tensors of a checkpoint that are read. */
export function checkpointShapes(config: SamAudioConfig): Shapes {
  const { codec, transformer } = config
  return {
    ...under('transformer', transformerShapes(transformer, 2 * codec.codebookDim)),
    ...under('audio_codec', codecShapes(codec)),
    ...conditionShapes(config),
  }
}
