/** Gated feed-forward: w2(silu(w1 x) · w3 x) (FeedForward). */
import { asWideAs, widen } from '../../tensorflow/bfloat16.ts'
import { loadProjection, readMatrix, type Layer } from '../../layers/layers.ts'
import { gateWithSigmoid, matmulTransposed, tf } from '../../tensorflow/tensor.ts'
import type { Weights } from '../../checkpoint/weights.ts'

/** The names of the three matrices in a family of networks. */
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
  weights: Weights,
  sizes: FeedForwardSizes,
  names = OF_THE_FLOW,
): Layer {
  // Two products: splitting the result of a single one takes longer than it saves.
  const gateMatrix = readMatrix(weights.at(names.gate), sizes.in, sizes.hidden)
  const valueMatrix = readMatrix(weights.at(names.value), sizes.in, sizes.hidden)
  const out = loadProjection(weights.at(names.out), sizes.hidden, sizes.out)
  return (x) =>
    tf.tidy(() => {
      const input = asWideAs(gateMatrix, x)
      const gate = widen(matmulTransposed(input, gateMatrix)) // [..., hidden]
      const value = widen(matmulTransposed(input, valueMatrix))
      return out(gateWithSigmoid(gate.mul(value), gate))
    })
}
