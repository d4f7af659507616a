/**
 * The views of two channels that the network reads: their middle, their side, or both, in one row
 * each.
 */
import { tf, type Tensor } from '../tensorflow/tensor.ts'
import type { View } from './prepare-chunk.ts'
import { channelOf, powerOf, type Spectrum } from './spectrum.ts'

/** Far below the power of any sound; prevents division by 0. */
const TINY = 1e-30

/** Returns one view of [lanes, 2, …] as [lanes, 1, …], for samples or one part of a spectrum. */
export const viewOf = (channels: Tensor, view: View): Tensor =>
  tf.tidy(() => {
    const [left, right] = [channelOf(channels, 0), channelOf(channels, 1)]
    return (view === 'middle' ? left.add(right) : left.sub(right)).div(2)
  })

/** Returns one view of a spectrum [lanes, 2, frames, bins] as [lanes, 1, frames, bins]. */
export const spectrumOfView = ({ real, imaginary }: Spectrum, view: View): Spectrum => ({
  real: viewOf(real, view),
  imaginary: viewOf(imaginary, view),
})

/**
 * Joins the masks of the views, each where its view is the louder one. Takes spectrum [lanes, 2,
 * frames, bins] and a mask [lanes, frames, bins] for each view; returns [lanes, frames, bins].
 */
export function joinMasks(spectrum: Spectrum, views: readonly View[], masks: Tensor[]): Tensor {
  if (views.length === 1) return masks[0]!.clone()
  return tf.tidy(() => {
    const powers = views.map((view) => powerOf(spectrumOfView(spectrum, view)).squeeze([1]))
    const through = tf.addN(powers.map((power, i) => power.mul(masks[i]!)))
    return through.div(tf.addN(powers).add(TINY))
  })
}
