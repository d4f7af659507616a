/** Convolutions over frames, [batch, frames, channels] (torch.nn.Conv1d, ConvTranspose1d). */
import type { Layer } from '../../layers/layers.ts'
import {
  explicitPadding,
  pad,
  tf,
  upload,
  type Tensor,
  type Tensor2D,
  type Tensor4D,
} from '../../tensorflow/tensor.ts'
import type { Weights } from '../../checkpoint/weights.ts'
import { readKernel, reverseAxes, swapLastAxes, type KernelShape } from './kernel.ts'

export interface ConvolutionSizes {
  in: number
  out: number
  kernel: number
  stride?: number
  dilation?: number
  /** How many zeros to add before the first and after the last frame. */
  pad: readonly [left: number, right: number]
}

export function loadConvolution(weights: Weights, sizes: ConvolutionSizes): Layer {
  const { in: inDim, out: outDim, kernel, stride = 1, dilation = 1 } = sizes
  const shape: KernelShape = [outDim, inDim, kernel]
  const turned = reverseAxes(readKernel(weights, shape), shape, weights.scratch)
  const filter = upload(turned, [1, kernel, inDim, outDim]) as Tensor4D
  const bias = weights.get('bias', [outDim])
  const padding = explicitPadding([0, 0], sizes.pad)
  return (x) =>
    tf.tidy(() => {
      const rows = x.expandDims(1) as Tensor4D // [batch, 1, frames, in]
      const y = tf.conv2d(rows, filter, [1, stride], padding, 'NHWC', [1, dilation])
      return y.squeeze([1]).add(bias) // [batch, frames / stride, out]
    })
}

/** Loads a convolution over a single frame, which is a matrix product. */
export function loadPointwise(weights: Weights, inDim: number, outDim: number): Layer {
  const shape: KernelShape = [outDim, inDim, 1]
  const turned = reverseAxes(readKernel(weights, shape), shape, weights.scratch)
  const matrix = upload(turned, [inDim, outDim]) as Tensor2D
  const bias = weights.get('bias', [outDim])
  return (x) =>
    tf.tidy(() => {
      const rows = tf.matMul(x.reshape([-1, inDim]), matrix) // [batch · frames, out]
      return rows.add(bias).reshape([...x.shape.slice(0, -1), outDim]) // [batch, frames, out]
    })
}

export interface UpsamplingSizes {
  in: number
  out: number
  /** How many frames each frame becomes; the kernel is twice as long. */
  stride: number
  /** How many frames to drop at the beginning; as many are kept as there are strides. */
  trim: number
}

/**
 * Loads a transposed convolution whose kernel is two strides long. Each frame gives two strides of
 * output, and the second is added to the first of the next frame, so a product and a sum are
 * enough.
 */
export function loadUpsampling(
  weights: Weights,
  { in: inDim, out: outDim, stride, trim }: UpsamplingSizes,
): Layer {
  const shape: KernelShape = [inDim, outDim, 2 * stride]
  const turned = swapLastAxes(readKernel(weights, shape), shape) // [in, 2 · stride, out]
  const matrix = upload(turned, [inDim, 2 * stride * outDim]) as Tensor2D
  const bias = weights.get('bias', [outDim])
  return (x) =>
    tf.tidy(() => {
      const [batch, frames] = x.shape as [number, number, number]
      const both = tf
        .matMul(x.reshape([-1, inDim]), matrix)
        .reshape([batch, frames, 2, stride * outDim]) // the two strides of every frame
      const [first, second] = tf.unstack(both, 2) as [Tensor, Tensor] // [batch, frames, …]
      const sum = pad(first, { 1: [0, 1] }).add(pad(second, { 1: [1, 0] })) // [.., frames + 1, …]
      const all = sum.reshape([batch, (frames + 1) * stride, outDim])
      return tf
        .slice(all, [0, trim, 0], [-1, frames * stride, -1]) // [batch, frames · stride, out]
        .add(bias)
    })
}
