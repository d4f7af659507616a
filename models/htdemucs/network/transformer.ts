/** The transformer across both branches (CrossTransformerEncoder). */
import {
  attend,
  gelu,
  linear,
  loadLayerNorm,
  loadLinear,
  mergeHeads,
  splitHeads,
  type Layer,
} from '../../layers/layers.ts'
import { tf, type Tensor } from '../../tensorflow/tensor.ts'
import type { Weights } from '../../checkpoint/weights.ts'
import { EPSILON, loadGroupNorm } from '../../layers/norms.ts'

export interface TransformerSizes {
  dim: number
  heads: number
  hiddenScale: number
  layers: number
}

/** Tokens of both branches, [batch, tokens, dim] each. */
export interface Tokens {
  spectrogram: Tensor
  waveform: Tensor
}

export type TransformerLayer = (tokens: Tokens) => Tokens

/**
 * Loads the layers. Every second one attends to the other branch, in its state before the layer;
 * the others attend to their own branch.
 */
export function loadTransformer(weights: Weights, sizes: TransformerSizes): TransformerLayer[] {
  return Array.from({ length: sizes.layers }, (_, i) => {
    const ofSpectrogram = weights.at('layers').at(i)
    const ofWaveform = weights.at('layers_t').at(i)
    if (i % 2 === 1) {
      const spectrogram = loadCrossLayer(ofSpectrogram, sizes)
      const waveform = loadCrossLayer(ofWaveform, sizes)
      return (tokens) => ({
        spectrogram: spectrogram(tokens.spectrogram, tokens.waveform),
        waveform: waveform(tokens.waveform, tokens.spectrogram),
      })
    }
    const spectrogram = loadSelfLayer(ofSpectrogram, sizes)
    const waveform = loadSelfLayer(ofWaveform, sizes)
    return (tokens) => ({
      spectrogram: spectrogram(tokens.spectrogram),
      waveform: waveform(tokens.waveform),
    })
  })
}

/** MyTransformerEncoderLayer with norm_first. */
function loadSelfLayer(weights: Weights, sizes: TransformerSizes): Layer {
  const { dim } = sizes
  const attention = loadAttention(weights.at('self_attn'), sizes)
  const norm = loadLayerNorm(weights.at('norm1'), dim, EPSILON)
  const attentionScale = weights.at('gamma_1').get('scale', [dim])
  const feedForward = loadFeedForward(weights, 'norm2', sizes)
  return (x) =>
    tf.tidy(() => {
      const normed = norm(x)
      return feedForward(x.add(attention(normed, normed).mul(attentionScale)))
    })
}

/** CrossTransformerEncoderLayer with norm_first. */
function loadCrossLayer(weights: Weights, sizes: TransformerSizes) {
  const { dim } = sizes
  const attention = loadAttention(weights.at('cross_attn'), sizes)
  const queryNorm = loadLayerNorm(weights.at('norm1'), dim, EPSILON)
  const keyNorm = loadLayerNorm(weights.at('norm2'), dim, EPSILON)
  const attentionScale = weights.at('gamma_1').get('scale', [dim])
  const feedForward = loadFeedForward(weights, 'norm3', sizes)
  return (x: Tensor, other: Tensor): Tensor =>
    tf.tidy(() => feedForward(x.add(attention(queryNorm(x), keyNorm(other)).mul(attentionScale))))
}

/** Loads the second half of both kinds of layer, including the final norm over all tokens. */
function loadFeedForward(
  weights: Weights,
  normName: string,
  { dim, hiddenScale }: TransformerSizes,
): Layer {
  const norm = loadLayerNorm(weights.at(normName), dim, EPSILON)
  const inner = loadLinear(weights.at('linear1'), dim, dim * hiddenScale)
  const outer = loadLinear(weights.at('linear2'), dim * hiddenScale, dim)
  const scale = weights.at('gamma_2').get('scale', [dim])
  const lastNorm = loadGroupNorm(weights.at('norm_out'), dim, [1, 2])
  return (x) => tf.tidy(() => lastNorm(x.add(outer(gelu(inner(norm(x)))).mul(scale))))
}

/** torch.nn.MultiheadAttention; both inputs and the output are [batch, tokens, dim]. */
function loadAttention(weights: Weights, { dim, heads }: TransformerSizes) {
  const matrices = tf.tidy(() => tf.split(weights.get('in_proj_weight', [3 * dim, dim]), 3))
  const biases = tf.tidy(() => tf.split(weights.get('in_proj_bias', [3 * dim]), 3))
  const projections = matrices.map((matrix, i) => linear(matrix, biases[i]!))
  const out = loadLinear(weights.at('out_proj'), dim, dim)
  return (queries: Tensor, keys: Tensor): Tensor =>
    tf.tidy(() => {
      const [q, k, v] = [queries, keys, keys].map((x, i) =>
        splitHeads(projections[i]!(x), heads),
      ) as [Tensor, Tensor, Tensor]
      return out(mergeHeads(attendByQueries(q, k, v)))
    })
}

/** How many scores to hold at once: 64 MiB. */
const SCORES_MAX = 2 ** 24

/** Like `attend`, but for a few queries at a time, to limit how many scores are held. */
function attendByQueries(q: Tensor, k: Tensor, v: Tensor): Tensor {
  const [batch, heads, queries] = q.shape as [number, number, number, number]
  const perQuery = batch * heads * k.shape[2]!
  const parts = Math.min(queries, Math.ceil((perQuery * queries) / SCORES_MAX))
  if (parts === 1) return attend(q, k, v, null)
  const size = Math.ceil(queries / parts)
  return tf.tidy(() =>
    tf.concat(
      Array.from({ length: Math.ceil(queries / size) }, (_, part) => {
        const start = part * size
        const count = Math.min(size, queries - start)
        return attend(tf.slice(q, [0, 0, start, 0], [-1, -1, count, -1]), k, v, null)
      }),
      2,
    ),
  )
}
