/** Layers that several networks use. Each `loadX` reads its weights once and returns a function. */
import { asWideAs, widen } from '../tensorflow/bfloat16.ts'
import { readStacked } from './stacked-matrices.ts'
import {
  gateWithSigmoid,
  lastAxisNorm,
  multiply,
  matmulTransposed,
  reshape,
  softmax,
  tf,
  toBfloat16,
  transpose,
  upload,
  type Tensor,
} from '../tensorflow/tensor.ts'
import type { Weights } from '../checkpoint/weights.ts'

export type Layer = (x: Tensor) => Tensor

/**
 * torch.nn.Linear on the last axis: [..., inDim] to float32 [..., outDim]. `weights` determines the
 * precision of the product.
 */
export const loadLinear = (weights: Weights, inDim: number, outDim: number): Layer =>
  linear(readMatrix(weights, inDim, outDim), weights.get('bias', [outDim]))

/** Like `loadLinear`, applied to x times a gain [inDim], which is folded into the weight. */
export function loadGainedLinear(
  weights: Weights,
  gain: Tensor,
  inDim: number,
  outDim: number,
): Layer {
  const matrix = tf.tidy(() =>
    asWideAsStated(weights, weights.get('weight', [outDim, inDim]).mul(gain)),
  )
  return linear(matrix, weights.get('bias', [outDim]))
}

/** Converts a float32 matrix to the precision that `weights` states for products. */
const asWideAsStated = ({ precision }: Weights, matrix: Tensor): Tensor =>
  precision === 'float32' ? matrix : toBfloat16(matrix)

/**
 * Computes x · matrixᵀ + bias on the last axis, in float32: matrix [outDim, inDim] in either
 * precision, bias [outDim].
 */
export function linear(matrix: Tensor, bias: Tensor): Layer {
  const [outDim, inDim] = matrix.shape as [number, number]
  return (x) =>
    tf.tidy(() => {
      const rows = widen(project(reshape(x, [-1, inDim]), matrix)) // [rows, outDim]
      return tf.add(rows, bias).reshape([...x.shape.slice(0, -1), outDim])
    })
}

/**
 * Reads the weight of a torch.nn.Linear without bias in PyTorch's layout, [outDim, inDim], in the
 * precision that `weights` states. The product transposes it, which costs nothing and saves a copy
 * while loading.
 */
export function readMatrix(weights: Weights, inDim: number, outDim: number): Tensor {
  if (weights.precision === 'float32') return weights.get('weight', [outDim, inDim])
  return readStacked([{ weights, outDim }], inDim)
}

/** torch.nn.Linear without bias on the last axis: [..., inDim] to float32 [..., outDim]. */
export function loadProjection(weights: Weights, inDim: number, outDim: number): Layer {
  const matrix = readMatrix(weights, inDim, outDim)
  return (x) => tf.tidy(() => widen(project(x, matrix)))
}

/** Multiplies x by a matrix [outDim, inDim], in the precision of the matrix. */
export const project = (x: Tensor, matrix: Tensor): Tensor =>
  tf.tidy(() => matmulTransposed(asWideAs(matrix, x), matrix))

/**
 * A convolution of kernel size 1 with a bias, over the channels: [..., inDim] to float32 [...,
 * outDim].
 * @param kernelAxes how many axes of size 1 the stored kernel has
 */
export function loadPointwise(
  weights: Weights,
  inDim: number,
  outDim: number,
  kernelAxes: 1 | 2,
): Layer {
  const kernel = kernelAxes === 2 ? [1, 1] : [1]
  const matrix = tf.tidy(() => {
    const numbers = weights.values('weight', [outDim, inDim, ...kernel])
    return asWideAsStated(weights, upload(numbers, [outDim, inDim]))
  })
  return linear(matrix, weights.get('bias', [outDim]))
}

/** torch.nn.functional.rms_norm over the last axis, with a learned gain stored as `name`. */
export function loadRmsNorm(
  weights: Weights,
  dim: number,
  { name = 'gain', epsilon = 1e-5 } = {},
): Layer {
  const gain = readLengthGain(weights, dim, name)
  return (x) => tf.tidy(() => normalizeLength(x, epsilon).mul(gain))
}

/** Reads the gain [dim] of an rms_norm, for use with `normalizeLength`. */
export const readLengthGain = (weights: Weights, dim: number, name = 'gain'): Tensor =>
  tf.tidy(() => weights.get(name, [dim]).mul(Math.sqrt(dim)))

/** Computes x / sqrt(mean(x²) + epsilon) over the last axis. */
export const rmsNormalize = (x: Tensor, epsilon = 1e-5): Tensor =>
  tf.tidy(() => normalizeLength(x, epsilon).mul(Math.sqrt(x.shape.at(-1)!)))

/**
 * Like `rmsNormalize` of x [..., dim], but without the factor sqrt(dim), which is folded into the
 * following gain to save operations.
 */
export function normalizeLength(x: Tensor, epsilon = 1e-5): Tensor {
  return tf.tidy(() => {
    const square = lastAxisNorm(x).square() // [..., 1]
    return x.mul(square.add(epsilon * x.shape.at(-1)!).rsqrt())
  })
}

/** torch.nn.LayerNorm over the last axis. */
export function loadLayerNorm(weights: Weights, dim: number, epsilon: number): Layer {
  const bias = weights.get('bias', [dim])
  const norm = loadBareLayerNorm(weights, dim, epsilon)
  return (x) => tf.tidy(() => norm(x).add(bias))
}

/** torch.nn.LayerNorm without bias, over the last axis. */
export function loadBareLayerNorm(weights: Weights, dim: number, epsilon: number): Layer {
  const gain = weights.get('weight', [dim])
  return (x) =>
    tf.tidy(() => {
      const centred = x.sub(x.mean(-1, true))
      const variance = centred.square().mean(-1, true) // [..., 1]
      return centred.mul(variance.add(epsilon).rsqrt()).mul(gain)
    })
}

/** torch.nn.functional.glu on the last axis: [..., 2 · dim] to [..., dim]. */
export const glu = (x: Tensor): Tensor =>
  tf.tidy(() => {
    const [value, gate] = tf.split(x, 2, -1) as [Tensor, Tensor]
    return gateWithSigmoid(value, gate)
  })

export const silu = (x: Tensor): Tensor => gateWithSigmoid(x, x)

/** The exact GELU with the error function, not an approximation. */
export const gelu = (x: Tensor): Tensor =>
  tf.tidy(() => x.mul(x.div(Math.SQRT2).erf().add(1)).mul(0.5))

/**
 * A gated feed-forward: out(silu(gate) · value). Gate and value are stored as one projection but
 * computed as two products, so that nothing needs to be split.
 * @param gain [dim] of the input, which is folded into the weights (default 1)
 */
export function loadSwiGlu(weights: Weights, dim: number, hiddenDim: number, gain?: Tensor): Layer {
  const inner = weights.at('input')
  const matrices = tf.tidy(() => {
    const both = inner.get('weight', [2 * hiddenDim, dim])
    const halves = tf.split(gain ? both.mul(gain) : both, 2)
    return halves.map((half) => asWideAsStated(inner, half))
  })
  const biases = tf.tidy(() => tf.split(inner.get('bias', [2 * hiddenDim]), 2))
  const [toGate, toValue] = matrices.map((matrix, i) => linear(matrix, biases[i]!)) as [
    Layer,
    Layer,
  ]
  const out = loadLinear(weights.at('output'), hiddenDim, dim)
  return (x) =>
    tf.tidy(() => {
      const input = asWideAs(matrices[0]!, x)
      const gate = toGate(input)
      return out(gateWithSigmoid(gate.mul(toValue(input)), gate))
    })
}

/**
 * Attention of every query to every key, scaled by the square root of the head's width: q, k, v
 * [batch, heads, length, dim]; bias null, or broadcastable to [batch, heads, q, k].
 */
export function attend(q: Tensor, k: Tensor, v: Tensor, bias: Tensor | null): Tensor {
  return tf.tidy(() => attendUnscaled(q.mul(1 / Math.sqrt(q.shape.at(-1)!)), k, v, bias))
}

/** Like `attend`, but without scaling. */
export function attendUnscaled(q: Tensor, k: Tensor, v: Tensor, bias: Tensor | null): Tensor {
  return tf.tidy(() => {
    const scores = matmulTransposed(q, k) // [batch, heads, q, k]
    const weighed = softmax(bias ? widen(scores).add(bias) : scores)
    return multiply(asWideAs(v, weighed), v) // [batch, heads, q, dim]
  })
}

/** Splits the heads of an attention: [batch, length, dim] to [batch, heads, length, …]. */
export function splitHeads(x: Tensor, heads: number): Tensor {
  const [batch, length, dim] = x.shape as [number, number, number]
  return tf.tidy(() => transpose(reshape(x, [batch, length, heads, dim / heads]), [0, 2, 1, 3]))
}

/** The inverse of `splitHeads`: [batch, heads, length, headDim] to [batch, length, dim]. */
export function mergeHeads(x: Tensor): Tensor {
  const [batch, heads, length, headDim] = x.shape as [number, number, number, number]
  return tf.tidy(() => reshape(transpose(x, [0, 2, 1, 3]), [batch, length, heads * headDim]))
}

/** Returns the bias that makes attention ignore keys with `valid` 0. */
export function keyBias(valid: Tensor): Tensor {
  const [batch, length] = valid.shape as [number, number]
  return tf.tidy(() => valid.sub(1).mul(1e9).reshape([batch, 1, 1, length]))
}
