/** The mask network: mixtures and prompts to masks (Separator in training/network.py). */
import { compiled } from '../../graph/compiled.ts'
import { loadProjection, loadRmsNorm } from '../../layers.ts'
import { tf, type Tensor } from '../../tensor.ts'
import type { Weights } from '../../checkpoint/weights.ts'
import { loadActivity } from './activity.ts'
import { loadBandSplit } from './band-split.ts'
import { PATCH, type MiniConfig } from '../config.ts'
import { loadHybridBlock, type Streams } from './hybrid-block.ts'
import { loadMaskHead } from './mask-head.ts'
import { loadTextCode } from './text-code.ts'

export type Network = ReturnType<typeof loadNetwork>

/** What is asked of each row of streams. */
export interface Conditioning {
  /** Of the prompt, [batch, embeddingDim]. */
  embedding: Tensor
  /** 1 where the target is said to sound, and where it is said not to: [batch, tokens, 2]. */
  spans: Tensor
}

export interface Answer {
  /** [batch, PATCH · tokens, bins + 1]. */
  maskLogits: Tensor
  /** Whether the target sounds in a token, [batch, tokens]. */
  activityLogits: Tensor
}

/**
 * Reads every part; the parts are there for the tests, `encodeMixture` and `decodeMask` for all
 * others.
 * Everywhere `valid` is [batch, tokens], 1 or 0, or null when every token counts.
 */
export function loadNetwork(weights: Weights, config: MiniConfig) {
  const split = loadBandSplit(weights.at('split'), config)
  const start = weights.get('z0', [config.frameDim])
  const { meaning, textCode } = loadTextCode(weights.at('te'), config)
  const blocks = (name: string, count: number, conditioned: boolean) =>
    Array.from({ length: count }, (_, i) =>
      loadHybridBlock(weights.at(name).at(i), config, conditioned),
    )
  const shared = blocks('sh', config.sharedBlocks, false)
  const spanCode = loadProjection(weights.at('sp'), 2, config.frameDim)
  const conditioned = blocks('co', config.conditionedBlocks, true)
  const norm = loadRmsNorm(weights.at('no'), config.bandDim)
  const head = loadMaskHead(weights.at('head'), config)
  const { activity, closing } = loadActivity(weights, config)
  weights.assertAllRead()

  const begin = (features: Tensor): Streams =>
    tf.tidy(() => {
      const [batch, tokens] = features.shape as [number, number]
      const z = tf.tile(start.reshape([1, 1, -1]), [batch, tokens, 1]) // [batch, tokens, frameDim]
      return { x: split(features), z }
    })

  /** What every prompt shares: features [batch, tokens, PATCH, bins] to streams. */
  const encodeMixture = compiled((features: Tensor, valid: Tensor | null): Streams =>
    tf.tidy(() => {
      let streams = begin(features)
      for (const block of shared) streams = replace(streams, block(streams, null, valid))
      return { ...streams }
    }),
  )

  const decodeMask = compiled(
    (encoded: Streams, conditioning: Conditioning, valid: Tensor | null): Answer =>
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

  return { begin, meaning, textCode, shared, conditioned, norm, head, encodeMixture, decodeMask }
}

/** Frees the old streams at once: within the tidy they would pile up, block by block. */
function replace(old: Streams, next: Streams): Streams {
  tf.dispose([old.x, old.z])
  return next
}

/** About a second. */
const ROOM_TOKENS = 32

/**
 * Tokens that rows of so many are padded to. The native library keeps what it prepared for every
 * shape that it met, and a graph is made only of shapes that come again: so there are few.
 */
export const roomFor = (tokens: number): number => ROOM_TOKENS * Math.ceil(tokens / ROOM_TOKENS)

/** Tokens that frames make. */
export const tokenCount = (frames: number): number => Math.ceil(frames / PATCH)
