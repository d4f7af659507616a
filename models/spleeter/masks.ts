/** Turns the networks' answers into masks for the whole spectrum. */
import { tf, type Tensor } from '../tensorflow/tensor.ts'
import type { SpleeterConfig } from './config.ts'

/** Gives the stems equal shares if all answers are 0. */
const EPSILON = 1e-10

/**
 * Returns each stem's share of the power in every bin that the network reads; the shares add up to
 * 1.
 * @param outputs of each stem, [segments, frames, bins, channels]
 */
export function sharesOf(outputs: readonly Tensor[]): Tensor[] {
  return tf.tidy(() => {
    const powers = outputs.map((output) => output.square())
    const total = tf.addN(powers).add(EPSILON)
    return powers.map((power) => power.add(EPSILON / outputs.length).div(total))
  })
}

/**
 * Shares [segments, frames, bins, channels] of a batch to its mask, [batch · channels, frames of
 * all segments, window / 2 + 1]: in the bins above those that the network reads (11 kHz) the mean
 * of the frame's shares, as the reference's `average`. Its default leaves these bins out of every
 * stem, so that stems would be dull and not add up to the mixture.
 */
export function maskOf(shares: Tensor, batch: number, { window }: SpleeterConfig): Tensor {
  return tf.tidy(() => {
    const [segments, frames, bins, channels] = shares.shape as [number, number, number, number]
    const joined = shares.reshape([batch, (segments / batch) * frames, bins, channels])
    const turned = tf.transpose(joined, [0, 3, 1, 2]).reshape([batch * channels, -1, bins])
    const above = tf.tile(turned.mean(2, true), [1, 1, window / 2 + 1 - bins])
    return tf.concat([turned, above], 2)
  })
}
