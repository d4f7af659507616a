/** Gated feed-forward, gate and value in one product: w2(silu(w1 x) · w3 x) (FeedForward). */
import { loadProjection, multiply, readMatrix, silu, type Layer } from '../layers.ts'
import { tf, type Tensor } from '../tensor.ts'
import type { Weights } from '../weights.ts'

/** How a family of networks names the three. */
export interface FeedForwardNames {
  gate: string
  value: string
  out: string
}

const OF_THE_FLOW: FeedForwardNames = { gate: 'w1', value: 'w3', out: 'w2' }

export interface FeedForwardSizes {
  in: number
  hidden: number
  out: number
}

export function loadFeedForward(
  weights: Weights, sizes: FeedForwardSizes, names = OF_THE_FLOW,
): Layer {
  const both = tf.tidy(() => tf.concat([names.gate, names.value].map((name) =>
    readMatrix(weights.at(name), sizes.in, sizes.hidden)), 1)) // [in, 2 · hidden]
  const out = loadProjection(weights.at(names.out), sizes.hidden, sizes.out)
  return (x) => tf.tidy(() => {
    const [gate, value] = tf.split(multiply(x, both), 2, -1) as [Tensor, Tensor]
    return out(silu(gate).mul(value))
  })
}
