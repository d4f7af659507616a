/** Two normalised convolutions over neighbouring frames, added to the input (Patcher). */
import { silu, type Layer } from '../../layers/layers.ts'
import { tf, type Tensor } from '../../tensorflow/tensor.ts'
import type { Weights } from '../../checkpoint/weights.ts'
import { loadConvolution } from '../codec/convolution.ts'
import { applyMask } from '../codec/mask.ts'
import type { RowMask } from './row-mask.ts'

const EPSILON = 1e-5

/** @param weights of `block1` and `block2` */
export function loadPatcher(weights: Weights, dim: number) {
  const blocks = ['block1', 'block2'].map((name) => loadPatcherBlock(weights.at(name), dim))
  /**
   * Maps [batch, frames, dim] to the same shape. With a mask, each row gets the result it has
   * alone.
   */
  const forward = (x: Tensor, mask: RowMask | null): Tensor =>
    tf.tidy(() => x.add(blocks.reduce((y, block) => block(y, mask), x)))
  return { blocks, forward }
}

function loadPatcherBlock(weights: Weights, dim: number) {
  const norm = weights.at('groupnorm')
  const gain = norm.get('weight', [dim])
  const bias = norm.get('bias', [dim])
  const convolve: Layer = loadConvolution(weights.at('project'), {
    in: dim,
    out: dim,
    kernel: 3,
    pad: [1, 1],
  })
  return (x: Tensor, mask: RowMask | null): Tensor =>
    tf.tidy(() => {
      const normed = normalizeRows(x, mask).mul(gain).add(bias)
      return convolve(applyMask(silu(normed), mask?.valid ?? null))
    })
}

/**
 * Normalises every row to mean 0 and variance 1 over all channels and real frames (GroupNorm(1)).
 */
function normalizeRows(x: Tensor, mask: RowMask | null): Tensor {
  const [, frames, dim] = x.shape as [number, number, number]
  const numbers = mask ? mask.counts.mul(dim) : tf.scalar(frames * dim)
  const valid = mask?.valid ?? null
  const mean = applyMask(x, valid).sum([1, 2], true).div(numbers) // [batch, 1, 1]
  const centred = x.sub(mean)
  const variance = applyMask(centred, valid).square().sum([1, 2], true).div(numbers)
  return centred.mul(variance.add(EPSILON).rsqrt())
}
