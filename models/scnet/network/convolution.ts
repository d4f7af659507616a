/** Convolutions of SCNet on [batch, bins, frames, channels], with weights in PyTorch's layout. */
import type { Layer } from '../../layers/layers.ts'
import { explicitPadding, tf, type Tensor, type Tensor4D } from '../../tensorflow/tensor.ts'
import type { Weights } from '../../checkpoint/weights.ts'
import type { BandSizes } from '../config.ts'

/** Kernel size over bins and frames. */
export const KERNEL = 3

/** Loads a convolution over 3 × 3 bins and frames; only the number of channels changes. */
export function loadNeighbourhood(weights: Weights, inDim: number, outDim: number): Layer {
  const kernel = weights.get('weight', [outDim, inDim, KERNEL, KERNEL])
  return convolution(kernel, weights.get('bias', [outDim]))
}

/** @param kernel [out, in, bins, frames], which is freed; bins and frames are padded with zeros */
export function convolution(kernel: Tensor, bias: Tensor): Layer {
  const filter = tf.transpose(kernel, [2, 3, 1, 0]) as Tensor4D
  kernel.dispose()
  return (x) => tf.tidy(() => tf.conv2d(x as Tensor4D, filter, 1, 'same').add(bias))
}

/** Loads a convolution over frames; only the number of channels changes. */
export function loadOverFrames(
  weights: Weights,
  inDim: number,
  outDim: number,
  places: number,
): Layer {
  const kernel = tf.tidy(() => weights.get('weight', [outDim, inDim, places]).expandDims(2))
  return convolution(kernel, weights.get('bias', [outDim]))
}

/** Loads a convolution over frames, for each channel separately. */
export function loadDepthwise(weights: Weights, dim: number, places: number): Layer {
  const taps = tf.tidy(() => {
    const kernel = weights.get('weight', [dim, 1, places])
    return tf.transpose(kernel, [1, 2, 0]).expandDims(-1) // [1, places, dim, 1]
  }) as Tensor4D
  const bias = weights.get('bias', [dim])
  return (x) => tf.tidy(() => tf.depthwiseConv2d(x as Tensor4D, taps, 1, 'same').add(bias))
}

/**
 * Loads a strided convolution over bins: [batch, bins, frames, in] to one bin for each stride
 * begun.
 */
export function loadDownsampling(
  weights: Weights,
  { stride, kernel }: BandSizes,
  inDim: number,
  outDim: number,
): Layer {
  const filter = tf.tidy(() =>
    tf.transpose(weights.get('weight', [outDim, inDim, kernel, 1]), [2, 3, 1, 0]),
  ) as Tensor4D
  const bias = weights.get('bias', [outDim])
  return (x) =>
    tf.tidy(() => {
      const missing = stride === 1 ? kernel - 1 : (stride - (x.shape[1]! % stride)) % stride
      const before = Math.floor(missing / 2)
      const padding = explicitPadding([before, missing - before], [0, 0])
      return tf.conv2d(x as Tensor4D, filter, [stride, 1], padding, 'NHWC').add(bias)
    })
}

/**
 * Loads the inverse over bins, cropped at the centre: [batch, bins, frames, in] to [.., wanted, ..,
 * out].
 */
export function loadUpsampling(
  weights: Weights,
  { stride, kernel }: BandSizes,
  inDim: number,
  outDim: number,
): (x: Tensor, binsWanted: number) => Tensor {
  const filter = tf.tidy(() =>
    tf.transpose(weights.get('weight', [inDim, outDim, kernel, 1]), [2, 3, 1, 0]),
  ) as Tensor4D // [kernel, 1, out, in]
  const bias = weights.get('bias', [outDim])
  return (x, binsWanted) =>
    tf.tidy(() => {
      const [batch, bins, frames] = x.shape as [number, number, number, number]
      const binsComputed = (bins - 1) * stride + kernel
      const shape: [number, number, number, number] = [batch, binsComputed, frames, outDim]
      const all = tf.conv2dTranspose(x as Tensor4D, filter, shape, [stride, 1], 'valid')
      const start = Math.floor(Math.abs(binsWanted - binsComputed) / 2)
      return tf.slice(all, [0, start, 0, 0], [-1, binsWanted, -1, -1]).add(bias)
    })
}
