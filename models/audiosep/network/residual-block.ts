/** Two convolutions with a skip connection (ConvBlockRes), conditioned on the prompt. */
import { loadPointwise } from '../../layers/layers.ts'
import { tf, type Tensor } from '../../tensorflow/tensor.ts'
import type { Weights } from '../../checkpoint/weights.ts'
import { leaky, loadConvolution, loadShift, readBatchNorm } from './layers.ts'

export type ConditionedLayer = (x: Tensor, condition: Tensor) => Tensor

export interface BlockSizes {
  in: number
  out: number
  conditionDim: number
}

/**
 * @param name the block's name in the names of its shifts, such as `encoder_block1->conv_block1`
 */
export function loadResidualBlock(
  weights: Weights,
  film: Weights,
  name: string,
  { in: inDim, out: outDim, conditionDim }: BlockSizes,
): ConditionedLayer {
  const first = readBatchNorm(weights.at('bn1'), inDim)
  const second = readBatchNorm(weights.at('bn2'), outDim)
  const beta1 = loadShift(film, `${name}->beta1`, conditionDim, inDim)
  const beta2 = loadShift(film, `${name}->beta2`, conditionDim, outDim)
  const conv1 = loadConvolution(weights.at('conv1'), inDim, outDim, second.gain)
  const conv2 = loadConvolution(weights.at('conv2'), outDim, outDim)
  const shortcut =
    inDim === outDim ? (x: Tensor) => x : loadPointwise(weights.at('shortcut'), inDim, outDim, 2)
  return (x, condition) =>
    tf.tidy(() => {
      const h = tf.tidy(() => {
        const shift1 = beta1(condition).add(first.shift) // [batch, 1, 1, in]
        const y = tf.tidy(() => conv1(leaky(x.mul(first.gain).add(shift1))))
        return leaky(y.add(beta2(condition).add(second.shift)))
      })
      return conv2(h).add(shortcut(x))
    })
}
