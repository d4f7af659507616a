/**
 * Views of two channels that the network reads: their middle, their side, or both, one row each.
 */
import { tf, type Tensor } from '../tensor.ts'
import type { View } from './prepare-chunk.ts'

/** Power far below any sound's: nothing is divided by 0. */
const TINY = 1e-30

/** [2, …] to one view of it, [1, …]; of samples or of one part of a spectrum. */
export const viewOf = (channels: Tensor, view: View): Tensor =>
  tf.tidy(() => {
    const [left, right] = tf.split(channels, 2) as [Tensor, Tensor]
    return (view === 'middle' ? left.add(right) : left.sub(right)).div(2)
  })

/** |X|² of a view of a complex spectrum [2, frames, bins]: [1, frames, bins]. */
const powerOfView = (spectrum: Tensor, view: View): Tensor =>
  viewOf(tf.real(spectrum), view)
    .square()
    .add(viewOf(tf.imag(spectrum), view).square())

/**
 * One mask from those of the views, each where it is the louder: spectrum [2, frames, bins] and a
 * mask [1, frames, bins] for each view to [1, frames, bins].
 */
export function joinMasks(spectrum: Tensor, views: readonly View[], masks: Tensor[]): Tensor {
  if (views.length === 1) return masks[0]!.clone()
  return tf.tidy(() => {
    const powers = views.map((view) => powerOfView(spectrum, view))
    const found = tf.addN(powers.map((power, i) => power.mul(masks[i]!)))
    return found.div(tf.addN(powers).add(TINY))
  })
}
