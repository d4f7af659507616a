/** The prompt encoder of the span predictor and the judge (ModernBertModel). */
import {
  attendUnscaled,
  gelu,
  keyBias,
  loadBareLayerNorm,
  loadProjection,
  mergeHeads,
  type Layer,
} from '../../layers/layers.ts'
import { gatherRows, tf, type Tensor } from '../../tensorflow/tensor.ts'
import type { Weights } from '../../checkpoint/weights.ts'
import { assertSettings, ropeTheta, type RopeEntry } from '../config.ts'
import { makeRotary, rotate, type Rotary } from '../../layers/rotary.ts'

export interface ModernBertConfig {
  vocabulary: number
  dim: number
  hiddenDim: number
  heads: number
  layers: number
  epsilon: number
  /**
   * In every layer whose index is a multiple of this, tokens attend to all others; otherwise only
   * to near ones.
   */
  globalEvery: number
  /** The largest distance, in tokens, that counts as near. */
  nearMax: number
  globalTheta: number
  localTheta: number
}

/** Settings that a file may leave out, but must not set to other values. */
const SETTINGS = {
  hidden_activation: 'gelu',
  attention_bias: false,
  mlp_bias: false,
  norm_bias: false,
}

/** The `text_model` of a config file, with its keys as in the file. */
export interface ModernBertEntry extends RopeEntry {
  vocab_size: number
  hidden_size: number
  intermediate_size: number
  num_attention_heads: number
  num_hidden_layers: number
  norm_eps?: number
  global_attn_every_n_layers: number
  local_attention: number
  global_rope_theta?: number
  local_rope_theta?: number | null
}

/** @throws Error naming the file if it describes another kind of encoder */
export function modernBertConfig(file: string, config: ModernBertEntry): ModernBertConfig {
  assertSettings(file, { ...SETTINGS, ...config }, { model_type: 'modernbert', ...SETTINGS })
  const globalTheta = ropeTheta(file, config, 'global_rope_theta', 'full_attention')
  return {
    vocabulary: config.vocab_size,
    dim: config.hidden_size,
    hiddenDim: config.intermediate_size,
    heads: config.num_attention_heads,
    layers: config.num_hidden_layers,
    epsilon: config.norm_eps ?? 1e-5,
    globalEvery: config.global_attn_every_n_layers,
    nearMax: Math.floor(config.local_attention / 2),
    globalTheta,
    localTheta:
      config.local_rope_theta === null
        ? globalTheta
        : ropeTheta(file, config, 'local_rope_theta', 'sliding_attention'),
  }
}

/**
 * Loads only the layers that are used.
 * @param tokensMax how many tokens a text may have
 */
export function loadModernBert(
  weights: Weights,
  config: ModernBertConfig,
  layersUsed: number,
  tokensMax: number,
) {
  if (layersUsed >= config.layers) throw new Error('the last layer of ModernBERT is never used')
  const { dim, heads, vocabulary, epsilon, globalEvery, globalTheta, localTheta } = config
  const embeddings = weights.at('embeddings')
  const table = embeddings.at('tok_embeddings').get('weight', [vocabulary, dim])
  const norm = loadBareLayerNorm(embeddings.at('norm'), dim, epsilon)
  const layers = Array.from({ length: layersUsed }, (_, i) =>
    loadLayer(weights.at('layers').at(i), config, i),
  )
  weights.ignoreAll()
  const globalRotary = makeRotary(dim / heads, tokensMax, globalTheta)
  const localRotary = makeRotary(dim / heads, tokensMax, localTheta)

  const embed = (ids: Tensor): Tensor => tf.tidy(() => norm(gatherRows(table, ids.cast('int32'))))

  /** Returns the masks for layer `i`; valid [batch, length] is 1 or 0. */
  const around = (valid: Tensor): ((i: number) => AttentionContext) => {
    const global = keyBias(valid) // [batch, 1, 1, length]
    const length = valid.shape[1]!
    const local = global.add(nearBias(length, config.nearMax)) // [batch, 1, length, length]
    const everywhere = { rotary: globalRotary(length), bias: global }
    const nearby = { rotary: localRotary(length), bias: local }
    return (i: number) => (i % globalEvery === 0 ? everywhere : nearby)
  }

  /**
   * Encodes ids [batch, length] int32, with valid [batch, length], as the first token's state,
   * [batch, dim].
   */
  const forward = (ids: Tensor, valid: Tensor): Tensor =>
    tf.tidy(() => {
      const surroundings = around(valid)
      const states = layers.reduce((x, layer, i) => layer(x, surroundings(i)), embed(ids))
      return tf.slice(states, [0, 0, 0], [-1, 1, -1]).squeeze([1])
    })

  return { embed, layers, around, forward }
}

/** The positions of the tokens, and which of them attend to which. */
interface AttentionContext {
  rotary: Rotary
  bias: Tensor
}

/**
 * Maps x [batch, length, dim] to the same shape. The input of the first layer is already
 * normalised.
 */
function loadLayer(weights: Weights, config: ModernBertConfig, index: number) {
  const { dim, epsilon } = config
  const norm: Layer =
    index === 0 ? (x) => x : loadBareLayerNorm(weights.at('attn_norm'), dim, epsilon)
  const attention = loadAttention(weights.at('attn'), config)
  const feedForwardNorm = loadBareLayerNorm(weights.at('mlp_norm'), dim, epsilon)
  const feedForward = loadFeedForward(weights.at('mlp'), config)
  return (x: Tensor, around: AttentionContext): Tensor =>
    tf.tidy(() => {
      const y = x.add(attention(norm(x), around))
      return y.add(feedForward(feedForwardNorm(y)))
    })
}

function loadAttention(weights: Weights, { dim, heads }: ModernBertConfig) {
  const width = dim / heads
  const project = loadProjection(weights.at('Wqkv'), dim, 3 * dim)
  const merge = loadProjection(weights.at('Wo'), dim, dim)
  return (x: Tensor, { rotary, bias }: AttentionContext): Tensor =>
    tf.tidy(() => {
      const [batch, length] = x.shape as [number, number, number]
      const all = project(x).reshape([batch, length, 3, heads, width])
      const parts = tf.transpose(all, [2, 0, 3, 1, 4]) // [3, batch, heads, length, width]
      const [q, k, v] = tf.unstack(parts) as [Tensor, Tensor, Tensor]
      const scaled = rotate(q, rotary).mul(1 / Math.sqrt(width))
      return merge(mergeHeads(attendUnscaled(scaled, rotate(k, rotary), v, bias)))
    })
}

function loadFeedForward(weights: Weights, { dim, hiddenDim }: ModernBertConfig): Layer {
  const project = loadProjection(weights.at('Wi'), dim, 2 * hiddenDim)
  const out = loadProjection(weights.at('Wo'), hiddenDim, dim)
  return (x) =>
    tf.tidy(() => {
      const [inner, gate] = tf.split(project(x), 2, -1) as [Tensor, Tensor]
      return out(gelu(inner).mul(gate))
    })
}

/** Hides tokens from each other that are more than `nearMax` apart: [length, length]. */
function nearBias(length: number, nearMax: number): Tensor {
  const values = Float32Array.from({ length: length * length }, (_, i) =>
    Math.abs((i % length) - Math.floor(i / length)) <= nearMax ? 0 : -1e9,
  )
  return tf.tensor2d(values, [length, length])
}
