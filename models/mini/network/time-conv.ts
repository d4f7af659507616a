/** A residual depthwise convolution in time, the same for every band (TimeConv). */
import { tf, type Tensor, type Tensor4D } from '../../tensorflow/tensor.ts'
import type { Weights } from '../../checkpoint/weights.ts'

/**
 * Computes y + conv(y) with y = x · gain, for each channel separately: x [batch, tokens, bands,
 * dim], with any number of bands, to the same shape; gain [dim]. The addition and the gain are
 * folded into the taps. Apart from attention only this layer mixes tokens, so the caller must set
 * tokens after the end of a lane to 0.
 */
export function loadTimeConv(weights: Weights, gain: Tensor, kernelTokens: number) {
  const dim = gain.size
  const taps = tf.tidy(() => {
    const stored = weights.at('convolution').get('weight', [dim, 1, kernelTokens, 1])
    const places = tf.range(0, kernelTokens).reshape([-1, 1, 1, 1])
    const middle = places.equal((kernelTokens - 1) / 2).cast('float32')
    return stored
      .transpose([2, 3, 0, 1]) // [kernelTokens, 1, dim, 1]
      .add(middle)
      .mul(gain.reshape([1, 1, dim, 1])) as Tensor4D
  })
  const bias = weights.at('convolution').get('bias', [dim])
  return (x: Tensor): Tensor =>
    tf.tidy(() => tf.depthwiseConv2d(x as Tensor4D, taps, 1, 'same').add(bias))
}
