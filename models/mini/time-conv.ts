/** A convolution along time, each channel by itself, the same for every band (TimeConv). */
import { tf, type Tensor, type Tensor4D } from '../tensor.ts'
import type { Weights } from '../weights.ts'

/**
 * x [batch, tokens, bands, dim], any number of bands, to the same shape. The only layer beside
 * attention that mixes tokens: what it must not see beyond a lane's end has to be zero.
 */
export function loadTimeConv(weights: Weights, dim: number, kernelTokens: number) {
  const taps = tf.tidy(() => {
    const stored = weights.at('c').get('weight', [dim, 1, kernelTokens, 1])
    return stored.transpose([2, 3, 0, 1]) as Tensor4D // [kernelTokens, 1, dim, 1]
  })
  const bias = weights.at('c').get('bias', [dim])
  return (x: Tensor): Tensor => tf.tidy(() =>
    tf.depthwiseConv2d(x as Tensor4D, taps, 1, 'same').add(bias))
}
