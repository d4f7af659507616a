/** The mask network: features of mixtures and embeddings of prompts to mask logits (Sep, H). */
import { loadRmsNorm } from '../layers.ts'
import { tf, type Tensor } from '../tensor.ts'
import type { Weights } from '../weights.ts'
import { loadBandSplit } from './band-split.ts'
import { PATCH, type MiniConfig } from './config.ts'
import { loadHybridBlock, type Streams } from './hybrid-block.ts'
import { loadMaskHead } from './mask-head.ts'
import { loadTextCode } from './text-code.ts'

export type Network = ReturnType<typeof loadNetwork>

/** Reads every part; the parts are there for the tests, `forward` for everybody else. */
export function loadNetwork(weights: Weights, config: MiniConfig) {
  const split = loadBandSplit(weights.at('split'), config)
  const start = weights.get('z0', [config.frameDim])
  const textCode = loadTextCode(weights.at('te'), config)
  const blocks = (name: string, count: number, conditioned: boolean) =>
    Array.from({ length: count }, (_, i) =>
      loadHybridBlock(weights.at(name).at(i), config, conditioned))
  const shared = blocks('sh', config.sharedBlocks, false)
  const conditioned = blocks('co', config.conditionedBlocks, true)
  const norm = loadRmsNorm(weights.at('no'), config.bandDim)
  const head = loadMaskHead(weights.at('head'), config)
  weights.assertAllRead()

  const begin = (features: Tensor): Streams => tf.tidy(() => {
    const [batch, tokens] = features.shape as [number, number]
    const z = tf.tile(start.reshape([1, 1, -1]), [batch, tokens, 1]) // [batch, tokens, frameDim]
    return { x: split(features), z }
  })

  /**
   * features [batch, tokens, PATCH, bins], embedding [batch, embeddingDim],
   * valid [batch, tokens] 1 or 0, null when every token counts;
   * to logits [batch, PATCH · tokens, bins + 1].
   */
  const forward = (features: Tensor, embedding: Tensor, valid: Tensor | null): Tensor =>
    tf.tidy(() => {
      const code = textCode(embedding)
      let streams = begin(features)
      for (const block of shared) streams = replace(streams, block(streams, null, valid))
      for (const block of conditioned) streams = replace(streams, block(streams, code, valid))
      return head(norm(streams.x))
    })

  return { begin, textCode, shared, conditioned, norm, head, forward }
}

/** Frees the old streams at once: within the tidy they would pile up, block by block. */
function replace(old: Streams, next: Streams): Streams {
  tf.dispose([old.x, old.z])
  return next
}

/** Tokens that frames make. */
export const tokenCount = (frames: number): number => Math.ceil(frames / PATCH)
