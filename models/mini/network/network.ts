/** The mask network: from mixtures and prompts to masks (Separator in training). */
import { compiled } from '../../graph/compiled.ts'
import { loadProjection, loadRmsNorm } from '../../layers/layers.ts'
import { tf, type Tensor } from '../../tensorflow/tensor.ts'
import type { Weights } from '../../checkpoint/weights.ts'
import type { Precision } from '../../tensorflow/precision.ts'
import { loadActivity } from './activity.ts'
import { loadBandSplit } from './band-split.ts'
import { PATCH, type MiniConfig } from '../config.ts'
import { loadHybridBlock, type Streams } from './hybrid-block.ts'
import { loadMaskHead } from './mask-head.ts'
import { loadTextCode } from './text-code.ts'

export type Network = ReturnType<typeof loadNetwork>

/** The prompt and the spans for each row of the streams. */
export interface Conditioning {
  /** Embedding of the prompt, [batch, embeddingDim]. */
  embedding: Tensor
  /**
   * [batch, tokens, 2]: 1 where a span says that the target is present, and where one says it is
   * absent.
   */
  spans: Tensor
}

export interface MaskOutput {
  /** [batch, PATCH · tokens, bins + 1]. */
  maskLogits: Tensor
  /** Whether the target is active in a token, [batch, tokens]. */
  activityLogits: Tensor
}

/**
 * Loads all parts. Callers use `encodeMixture` and `decodeMask`; tests also use the parts.
 * Everywhere, `valid` is [batch, tokens] with 1 or 0, or null if every token is valid.
 * @param precision of the blocks' matrix products; everything else is float32
 * @throws Error naming weights that are missing, have the wrong shape or are not used
 */
export function loadNetwork(
  weights: Weights,
  config: MiniConfig,
  precision: Precision = 'float32',
) {
  const split = loadBandSplit(weights.at('band_split'), config)
  const start = weights.get('initial_frame', [config.frameDim])
  const { nameLogits, textCode } = loadTextCode(weights, config)
  const blocks = (name: string, count: number, conditioned: boolean) =>
    Array.from({ length: count }, (_, i) =>
      loadHybridBlock(weights.at(name).at(i).in(precision), config, conditioned),
    )
  const shared = blocks('shared_blocks', config.sharedBlocks, false)
  const spanCode = loadProjection(weights.at('span_projection'), 2, config.frameDim)
  const conditioned = blocks('conditioned_blocks', config.conditionedBlocks, true)
  const norm = loadRmsNorm(weights.at('mask_norm'), config.bandDim)
  const head = loadMaskHead(weights.at('mask_head'), config)
  const { activity, closing } = loadActivity(weights, config)
  weights.assertAllRead()

  const begin = (features: Tensor): Streams =>
    tf.tidy(() => {
      const [batch, tokens] = features.shape as [number, number]
      const z = tf.tile(start.reshape([1, 1, -1]), [batch, tokens, 1]) // [batch, tokens, frameDim]
      return { x: split(features), z }
    })

  /** The part that all prompts share: maps features [batch, tokens, PATCH, bins] to streams. */
  const encodeMixture = compiled((features: Tensor, valid: Tensor | null): Streams =>
    tf.tidy(() => {
      let streams = begin(features)
      for (const block of shared) streams = replace(streams, block(streams, null, valid))
      return { ...streams }
    }),
  )

  /** `encoded` holds the streams of `encodeMixture`, with one row per prompt. */
  const decodeMask = compiled(
    (encoded: Streams, conditioning: Conditioning, valid: Tensor | null): MaskOutput =>
      tf.tidy(() => {
        const code = textCode(conditioning.embedding)
        const [batch, tokens] = encoded.z.shape as [number, number]
        let streams = { x: encoded.x.clone(), z: encoded.z.add(spanCode(conditioning.spans)) }
        for (const block of conditioned) streams = replace(streams, block(streams, code, valid))
        const activityLogits = activity(streams.z)
        const closed = closing(activityLogits).reshape([batch, tokens, 1, 1])
        const logits = head(norm(streams.x)) // [batch, PATCH · tokens, bins + 1]
        const byToken = logits.reshape([batch, tokens, PATCH, -1])
        return { maskLogits: byToken.sub(closed).reshape(logits.shape), activityLogits }
      }),
  )

  return { begin, nameLogits, textCode, shared, conditioned, norm, head, encodeMixture, decodeMask }
}

/**
 * Frees the previous streams at once; the enclosing tidy would keep those of all blocks until its
 * end.
 */
function replace(old: Streams, next: Streams): Streams {
  tf.dispose([old.x, old.z])
  return next
}
