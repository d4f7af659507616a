/** Layers of the U-Net on [segments, frames, bins, channels], with weights in Keras' layout. */
import type { Layer } from '../../layers/layers.ts'
import { tf, type Tensor, type Tensor4D } from '../../tensorflow/tensor.ts'
import type { Weights } from '../../checkpoint/weights.ts'
import type { Activation } from '../config.ts'

const KERNEL = 5
const STRIDE = 2
const LAST_KERNEL = 4
const LAST_DILATION = 2
const NORM_EPSILON = 1e-3
const LEAKY_SLOPE = 0.2

/**
 * Returns the weights of a numbered layer. Keras numbers layers of a kind in the order of creation;
 * the first has no number.
 */
export const numberedLayer = (weights: Weights, kind: string, index: number): Weights =>
  weights.at(index === 0 ? kind : `${kind}_${index}`)

export const activationOf = (name: Activation): Layer =>
  ({
    LeakyReLU: (x: Tensor) => tf.leakyRelu(x, LEAKY_SLOPE),
    ReLU: (x: Tensor) => tf.relu(x),
    ELU: (x: Tensor) => tf.elu(x),
  })[name]

/** Halves frames and bins: [.., frames, bins, in] to [.., frames / 2, bins / 2, out]. */
export function loadDownsampling(weights: Weights, inDim: number, outDim: number): Layer {
  const filter = weights.get('kernel', [KERNEL, KERNEL, inDim, outDim]) as Tensor4D
  const bias = weights.get('bias', [outDim])
  return (x) => tf.tidy(() => tf.conv2d(x as Tensor4D, filter, STRIDE, 'same').add(bias))
}

/** Doubles frames and bins: [.., frames, bins, in] to [.., 2 · frames, 2 · bins, out]. */
export function loadUpsampling(weights: Weights, inDim: number, outDim: number): Layer {
  const filter = weights.get('kernel', [KERNEL, KERNEL, outDim, inDim]) as Tensor4D
  const bias = weights.get('bias', [outDim])
  return (x) =>
    tf.tidy(() => {
      const [segments, frames, bins] = x.shape as [number, number, number]
      const shape: [number, number, number, number] = [
        segments,
        STRIDE * frames,
        STRIDE * bins,
        outDim,
      ]
      return tf.conv2dTranspose(x as Tensor4D, filter, shape, STRIDE, 'same').add(bias)
    })
}

/**
 * Loads the last layer, from one feature channel to an answer for each channel; it keeps the shape.
 */
export function loadLast(weights: Weights, outDim: number): Layer {
  const filter = weights.get('kernel', [LAST_KERNEL, LAST_KERNEL, 1, outDim]) as Tensor4D
  const bias = weights.get('bias', [outDim])
  return (x) =>
    tf.tidy(() => tf.conv2d(x as Tensor4D, filter, 1, 'same', 'NHWC', LAST_DILATION).add(bias))
}

/** Loads batch normalisation for inference: a gain and a shift for each channel. */
export function loadNorm(weights: Weights, dim: number): Layer {
  const { gain, shift } = tf.tidy(() => {
    const read = (name: string) => weights.get(name, [dim])
    const factor = read('gamma').div(read('moving_variance').add(NORM_EPSILON).sqrt())
    return { gain: factor, shift: read('beta').sub(read('moving_mean').mul(factor)) }
  })
  return (x) => tf.tidy(() => x.mul(gain).add(shift))
}
