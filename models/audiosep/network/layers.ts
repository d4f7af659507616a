/** Layers of the network, in the layout [batch, frames, bins, channels]. */
import { loadLinear, type Layer } from '../../layers/layers.ts'
import { matmulTransposed, tf, type Tensor, type Tensor4D } from '../../tensorflow/tensor.ts'
import type { Weights } from '../../checkpoint/weights.ts'

const EPSILON = 1e-5
const SLOPE = 0.01

export const leaky = (x: Tensor): Tensor => tf.leakyRelu(x, SLOPE)

/** x · gain + shift: torch.nn.BatchNorm at inference. */
export interface Affine {
  gain: Tensor
  shift: Tensor
}

export function readBatchNorm(weights: Weights, dim: number): Affine {
  const read = (name: string) => weights.get(name, [dim])
  return tf.tidy(() => {
    const gain = read('weight').div(read('running_var').add(EPSILON).sqrt())
    return { gain, shift: read('bias').sub(read('running_mean').mul(gain)) }
  })
}

/**
 * Loads the shift of channels by the prompt: condition [batch, conditionDim] to [batch, 1, 1, dim].
 */
export function loadShift(film: Weights, name: string, conditionDim: number, dim: number): Layer {
  const project = loadLinear(film.at(name), conditionDim, dim)
  return (condition) => tf.tidy(() => project(condition).expandDims(1).expandDims(1))
}

/**
 * Loads a 3 × 3 convolution without a bias that keeps frames and bins.
 * @param gain of its outputs, folded into the filter: [out]
 */
export function loadConvolution(
  weights: Weights,
  inDim: number,
  outDim: number,
  gain?: Tensor,
): Layer {
  const filter = tf.tidy(() => {
    const turned = tf.transpose(weights.get('weight', [outDim, inDim, 3, 3]), [2, 3, 1, 0])
    return gain ? turned.mul(gain) : turned
  }) as Tensor4D // [3, 3, in, out]
  return (x) => tf.conv2d(x as Tensor4D, filter, 1, 'same', 'NHWC')
}

/**
 * Loads a transposed convolution without a bias whose kernel is as large as its stride: each input
 * position becomes `[frames, bins]` outputs.
 */
export function loadUpsampling(
  weights: Weights,
  inDim: number,
  outDim: number,
  [overFrames, overBins]: readonly [frames: number, bins: number],
): Layer {
  const matrix = tf.tidy(() => {
    const kernel = weights.get('weight', [inDim, outDim, overFrames, overBins])
    return tf.transpose(kernel, [2, 3, 1, 0]).reshape([overFrames * overBins * outDim, inDim])
  })
  return (x) =>
    tf.tidy(() => {
      const [batch, frames, bins] = x.shape as [number, number, number, number]
      const product = matmulTransposed(x.reshape([-1, inDim]), matrix)
      const rows = product.reshape([batch * frames, bins, overFrames, overBins * outDim])
      const turned = tf.transpose(rows, [0, 2, 1, 3]) // [.., overFrames, bins, overBins · out]
      return turned.reshape([batch, frames * overFrames, bins * overBins, outDim])
    })
}
