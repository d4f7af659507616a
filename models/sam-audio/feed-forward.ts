/** Gated feed-forward, gate and value in one product: w2(silu(w1 x) · w3 x) (FeedForward). */
import { loadProjection, multiply, readMatrix, silu, type Layer } from '../layers.ts'
import { tf, type Tensor } from '../tensor.ts'
import type { Weights } from '../weights.ts'

export function loadFeedForward(
  weights: Weights, inDim: number, hiddenDim: number, outDim: number,
): Layer {
  const both = tf.tidy(() => tf.concat(
    ['w1', 'w3'].map((name) => readMatrix(weights.at(name), inDim, hiddenDim)), 1))
  const out = loadProjection(weights.at('w2'), hiddenDim, outDim)
  return (x) => tf.tidy(() => {
    const [gate, value] = tf.split(multiply(x, both), 2, -1) as [Tensor, Tensor]
    return out(silu(gate).mul(value))
  })
}
