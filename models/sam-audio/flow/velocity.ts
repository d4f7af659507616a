/**
 * Computes the velocity of the flow for a state and a time, in one evaluation of the network
 * (SAMAudio).
 */
import type { Precision } from '../../tensorflow/precision.ts'
import { tf, type Tensor } from '../../tensorflow/tensor.ts'
import type { Weights } from '../../checkpoint/weights.ts'
import { loadConditions } from './conditions.ts'
import type { SamAudioConfig } from '../config.ts'
import type { RowMask } from '../layers/row-mask.ts'
import type { TimeEmbedding } from './time-embedding.ts'
import { loadTransformer } from './transformer.ts'

export type VelocityNetwork = ReturnType<typeof loadVelocity>

/** The conditioning of a batch, the same at every evaluation. */
export interface BatchConditions {
  /** [batch, frames, dim]: features, anchors and video. */
  base: Tensor
  /** [batch, length, dim]: the text encoder's states. */
  memory: Tensor
  frames: RowMask | null
  /** Mask of the text as keys, [batch, 1, 1, length]; null if every token is valid. */
  textKeys: Tensor | null
}

/** @param weights of the whole model; `audio_codec` is not read */
export function loadVelocity(
  weights: Weights,
  config: SamAudioConfig,
  precision: Precision = 'float32',
) {
  const conditions = loadConditions(weights, config)
  const transformer = loadTransformer(
    weights.at('transformer'),
    config.transformer,
    2 * config.codec.codebookDim,
    precision,
  )

  /** Turns a state [batch, frames, 2 · codebookDim] into its velocity, of the same shape. */
  const forward = (state: Tensor, time: TimeEmbedding, batch: BatchConditions): Tensor =>
    tf.tidy(() =>
      transformer.forward({
        x: conditions.noisy(state).add(batch.base),
        memory: batch.memory.add(time.memory.expandDims(1)),
        time,
        frames: batch.frames,
        textKeys: batch.textKeys,
      }),
    )

  return { conditions, transformer, forward }
}
