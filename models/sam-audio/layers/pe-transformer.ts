/** The transformer over audio frames in the span predictor and the judge (PE-AV). */
import { loadProjection, loadRmsNorm } from '../../layers/layers.ts'
import { tf, type Tensor } from '../../tensorflow/tensor.ts'
import type { Weights } from '../../checkpoint/weights.ts'
import { assertSettings, ropeTheta, type RopeEntry } from '../config.ts'
import { loadFeedForward } from './feed-forward.ts'
import { loadPatcher } from './patcher.ts'
import { makeRotary, withGain, type Rotary } from '../../layers/rotary.ts'
import { rowMask } from './row-mask.ts'
import { loadSelfAttention } from './self-attention.ts'

export interface PeConfig {
  dim: number
  hiddenDim: number
  layers: number
  heads: number
  positionsMax: number
  theta: number
}

/** An `audio_transformer` of a config file, with its keys as in the file. */
export interface PeEntry extends RopeEntry {
  hidden_size: number
  intermediate_size: number
  num_hidden_layers: number
  num_attention_heads: number
  max_position_embeddings: number
  rope_theta?: number
}

/** @throws Error naming the file if it describes another kind of transformer */
export function peConfig(file: string, config: PeEntry): PeConfig {
  assertSettings(file, config, { rms_norm_eps: 1e-5, attention_bias: false, hidden_act: 'silu' })
  return {
    dim: config.hidden_size,
    hiddenDim: config.intermediate_size,
    layers: config.num_hidden_layers,
    heads: config.num_attention_heads,
    positionsMax: config.max_position_embeddings,
    theta: ropeTheta(file, config, 'rope_theta'),
  }
}

/** @param weights of the transformer; `embeddings`, `layers`, `norm` and `output` are read */
export function loadPeTransformer(weights: Weights, config: PeConfig) {
  const { dim, heads, layers: count, positionsMax, theta } = config
  const embeddings = weights.at('embeddings')
  const first = embeddings.get('cls_token', [1, 1, dim])
  const patcher = loadPatcher(embeddings.at('resnet_block'), dim)
  const layers = Array.from({ length: count }, (_, i) =>
    loadLayer(weights.at('layers').at(i), config),
  )
  const norm = loadRmsNorm(weights.at('norm'), dim, { name: 'weight' })
  const out = loadProjection(weights.at('output'), dim, dim)
  const rotaryOf = makeRotary(dim / heads, positionsMax, theta)

  /** Puts a token for the whole before x [batch, frames, dim]: [batch, 1 + frames, dim]. */
  const prepend = (x: Tensor): Tensor =>
    tf.tidy(() => tf.concat([tf.tile(first, [x.shape[0], 1, 1]), x], 1))

  /** Returns the mask of rows with these numbers of real frames; null if all frames are real. */
  const maskOf = (rows: readonly number[], frames: number) =>
    rowMask(
      rows.map((real) => real + 1),
      frames + 1,
    )

  /** Like `forward`, but with the token for the whole: [batch, 1 + frames, dim]. */
  const states = (x: Tensor, rows: readonly number[]): Tensor =>
    tf.tidy(() => {
      const frames = x.shape[1]!
      const mask = maskOf(rows, frames)
      const rotary = rotaryOf(frames + 1)
      const embedded = patcher.forward(prepend(x), mask) // [batch, 1 + frames, dim]
      const encoded = layers.reduce((y, layer) => layer(y, rotary, mask?.keys ?? null), embedded)
      return out(norm(encoded))
    })

  /**
   * Maps x [batch, frames, dim] to the same shape. `rows` holds the number of real frames of each
   * row. Frames after them are meaningless and do not affect the others.
   */
  const forward = (x: Tensor, rows: readonly number[]): Tensor =>
    tf.tidy(() => tf.slice(states(x, rows), [0, 1, 0], [-1, x.shape[1]!, -1]))

  return { prepend, maskOf, patcher, layers, norm, out, rotaryOf, states, forward }
}

/** Maps x [batch, frames, dim] to the same shape; keys is their mask, or null. */
function loadLayer(weights: Weights, { dim, hiddenDim, heads }: PeConfig) {
  const attentionNorm = loadRmsNorm(weights.at('input_layernorm'), dim, { name: 'weight' })
  const attention = loadSelfAttention(weights.at('self_attn'), dim, heads, {
    q: 'q_proj',
    k: 'k_proj',
    v: 'v_proj',
    out: 'o_proj',
    headsInterleaved: false,
  })
  const feedForwardNorm = loadRmsNorm(weights.at('post_attention_layernorm'), dim, {
    name: 'weight',
  })
  const feedForward = loadFeedForward(
    weights.at('mlp'),
    { in: dim, hidden: hiddenDim, out: dim },
    { gate: 'gate_proj', value: 'up_proj', out: 'down_proj' },
  )
  return (x: Tensor, rotary: Rotary, keys: Tensor | null): Tensor =>
    tf.tidy(() => {
      const turning = withGain(rotary, attention.gains)
      const y = x.add(attention.forward(attentionNorm(x), turning, keys))
      return y.add(feedForward(feedForwardNorm(y)))
    })
}
