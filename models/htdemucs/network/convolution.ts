/**
 * Convolutions of HTDemucs, with weights in PyTorch's layout. Both branches are [batch, frames,
 * bins, channels]; kernels of the spectrogram have one axis more than those of the waveform.
 */
import type { Layer } from '../../layers/layers.ts'
import {
  explicitPadding,
  matmulTransposed,
  pad,
  tf,
  type Tensor,
  type Tensor4D,
} from '../../tensorflow/tensor.ts'
import type { Weights } from '../../checkpoint/weights.ts'
import type { Branch } from './branches.ts'

/** Every encoder divides the number of bins by this, and every decoder multiplies it. */
export const STRIDE = 4

/**
 * Loads an encoder's convolution, two strides long: [batch, frames, bins, in] to [.., bins / 4,
 * out].
 */
export function loadDownsampling(
  weights: Weights,
  branch: Branch,
  inDim: number,
  outDim: number,
): Layer {
  const shape = [outDim, inDim, 2 * STRIDE, ...(branch === 'spectrogram' ? [1] : [])]
  const filter = tf.tidy(() =>
    tf.transpose(
      weights.get('weight', shape).reshape([outDim, inDim, 1, 2 * STRIDE]),
      [2, 3, 1, 0],
    ),
  ) as Tensor4D // [1, 8, in, out]
  const bias = weights.get('bias', [outDim])
  return (x) =>
    tf.tidy(() => {
      const missing = (STRIDE - (x.shape[2]! % STRIDE)) % STRIDE
      const paddings = explicitPadding([0, 0], [STRIDE / 2, STRIDE / 2 + missing])
      return tf.conv2d(x as Tensor4D, filter, [1, STRIDE], paddings, 'NHWC').add(bias)
    })
}

/**
 * Loads a decoder's transposed convolution, two strides long: [batch, frames, bins, in] to [..,
 * binsWanted, out]. Each bin gives two strides of output, and the second is added to the first of
 * the next bin, so a product and a sum are enough.
 */
export function loadUpsampling(
  weights: Weights,
  branch: Branch,
  inDim: number,
  outDim: number,
): (x: Tensor, binsWanted: number) => Tensor {
  const shape = [inDim, outDim, 2 * STRIDE, ...(branch === 'spectrogram' ? [1] : [])]
  const matrix = tf.tidy(() => {
    const kernel = weights.get('weight', shape).reshape([inDim, outDim, 2 * STRIDE])
    return tf.transpose(kernel, [2, 1, 0]).reshape([2 * STRIDE * outDim, inDim])
  })
  const bias = weights.get('bias', [outDim])
  return (x, binsWanted) =>
    tf.tidy(() => {
      const [batch, frames, bins] = x.shape as [number, number, number, number]
      const product = matmulTransposed(x.reshape([-1, inDim]), matrix)
      const both = product.reshape([batch, frames, bins, 2, STRIDE * outDim])
      const [first, second] = tf.unstack(both, 3) as [Tensor, Tensor] // [batch, frames, bins, …]
      const sum = pad(first, { 2: [0, 1] }).add(pad(second, { 2: [1, 0] }))
      const all = sum.reshape([batch, frames, (bins + 1) * STRIDE, outDim])
      return tf.slice(all, [0, 0, STRIDE / 2, 0], [-1, -1, binsWanted, -1]).add(bias)
    })
}

/** Loads a decoder's convolution over 3 × 3 bins and frames, or 3 samples; it keeps the shape. */
export function loadNeighbourhood(
  weights: Weights,
  branch: Branch,
  inDim: number,
  outDim: number,
): Layer {
  const filter = tf.tidy(() =>
    branch === 'spectrogram'
      ? // [out, in, bins, frames] to [frames, bins, in, out]
        tf.transpose(weights.get('weight', [outDim, inDim, 3, 3]), [3, 2, 1, 0])
      : tf.transpose(weights.get('weight', [outDim, inDim, 3]).expandDims(2), [2, 3, 1, 0]),
  ) as Tensor4D
  const bias = weights.get('bias', [outDim])
  return (x) => tf.tidy(() => tf.conv2d(x as Tensor4D, filter, 1, 'same', 'NHWC').add(bias))
}

/** Loads a dilated convolution of size three over time (frames or samples); it keeps the shape. */
export function loadDilated(
  weights: Weights,
  branch: Branch,
  inDim: number,
  outDim: number,
  dilation: number,
): Layer {
  const isOverFrames = branch === 'spectrogram'
  const filter = tf.tidy(() => {
    const kernel = tf.transpose(weights.get('weight', [outDim, inDim, 3]), [2, 1, 0])
    return kernel.reshape(isOverFrames ? [3, 1, inDim, outDim] : [1, 3, inDim, outDim])
  }) as Tensor4D
  const bias = weights.get('bias', [outDim])
  const dilations: [number, number] = isOverFrames ? [dilation, 1] : [1, dilation]
  return (x) =>
    tf.tidy(() => tf.conv2d(x as Tensor4D, filter, 1, 'same', 'NHWC', dilations).add(bias))
}
