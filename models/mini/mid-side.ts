/**
 * Views of two channels that the network reads: their middle, their side, or both, one row each.
 */
import { tf, type Tensor } from '../tensorflow/tensor.ts'
import type { View } from './prepare-chunk.ts'
import { channelOf, powerOf, type Spectrum } from './spectrum.ts'

/** Power far below any sound's: nothing is divided by 0. */
const TINY = 1e-30

/** [lanes, 2, …] to one view of it, [lanes, 1, …]; of samples or of one part of a spectrum. */
export const viewOf = (channels: Tensor, view: View): Tensor =>
  tf.tidy(() => {
    const [left, right] = [channelOf(channels, 0), channelOf(channels, 1)]
    return (view === 'middle' ? left.add(right) : left.sub(right)).div(2)
  })

/** A view of a spectrum [lanes, 2, frames, bins]: [lanes, 1, frames, bins]. */
export const spectrumOfView = ({ real, imaginary }: Spectrum, view: View): Spectrum => ({
  real: viewOf(real, view),
  imaginary: viewOf(imaginary, view),
})

/**
 * One mask from those of the views, each where it is the louder: spectrum [lanes, 2, frames, bins]
 * and masks [lanes, frames, bins] for each view to [lanes, frames, bins].
 */
export function joinMasks(spectrum: Spectrum, views: readonly View[], masks: Tensor[]): Tensor {
  if (views.length === 1) return masks[0]!.clone()
  return tf.tidy(() => {
    const powers = views.map((view) => powerOf(spectrumOfView(spectrum, view)).squeeze([1]))
    const through = tf.addN(powers.map((power, i) => power.mul(masks[i]!)))
    return through.div(tf.addN(powers).add(TINY))
  })
}
