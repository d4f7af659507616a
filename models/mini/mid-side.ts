/**
 * Views of two channels that the network reads: their middle, their side, or both, one row each.
 */
import { tf, type Tensor } from '../tensor.ts'
import type { View } from './prepare-chunk.ts'

/** Power far below any sound's: nothing is divided by 0. */
const TINY = 1e-30

/** [lanes, 2, …] to one view of it, [lanes, 1, …]; of samples or of one part of a spectrum. */
export const viewOf = (channels: Tensor, view: View): Tensor =>
  tf.tidy(() => {
    const [left, right] = tf.split(channels, 2, 1) as [Tensor, Tensor]
    return (view === 'middle' ? left.add(right) : left.sub(right)).div(2)
  })

/** |X|² of a view of a complex spectrum [lanes · 2, frames, bins]: [lanes, frames, bins]. */
const powerOfView = (spectrum: Tensor, view: View): Tensor => {
  const [rows, frames, bins] = spectrum.shape as [number, number, number]
  const shown = (part: Tensor) => viewOf(part.reshape([rows / 2, 2, frames, bins]), view)
  const power = shown(tf.real(spectrum))
    .square()
    .add(shown(tf.imag(spectrum)).square())
  return power.reshape([rows / 2, frames, bins])
}

/**
 * One mask from those of the views, each where it is the louder: spectrum [lanes · 2, frames, bins]
 * and masks [lanes, frames, bins] for each view to [lanes, frames, bins].
 */
export function joinMasks(spectrum: Tensor, views: readonly View[], masks: Tensor[]): Tensor {
  if (views.length === 1) return masks[0]!.clone()
  return tf.tidy(() => {
    const powers = views.map((view) => powerOfView(spectrum, view))
    const found = tf.addN(powers.map((power, i) => power.mul(masks[i]!)))
    return found.div(tf.addN(powers).add(TINY))
  })
}
