/**
 * Turns a target's mask into a two-channel filter that uses where sounds lie in the stereo image.
 */
import { tf, type Tensor } from '../tensorflow/tensor.ts'
import { channelOf, type Spectrum } from './spectrum.ts'

/** The share of each covariance that is the same in all directions, which keeps it invertible. */
const DIFFUSE = 1e-3

/** Far below the power of any sound; prevents division by 0. */
const TINY = 1e-30

/** A Hermitian 2 × 2 matrix for each bin, [lanes, 1, bins] each, or for each frame and bin. */
type Covariance = { left: Tensor; right: Tensor; crossReal: Tensor; crossImaginary: Tensor }

/**
 * The multichannel Wiener filter of a target and the rest, with one pair of spatial covariances per
 * bin for the whole chunk, estimated with the mask (N. Duong, E. Vincent, R. Gribonval,
 * "Under-determined reverberant audio source separation using a full-rank spatial covariance
 * model", 2010). If target and rest come from the same direction, this equals the mask.
 * @param spectrum [lanes, 2, frames, bins]
 * @param mask [lanes, frames, bins], from 0 to 1
 * @returns [lanes, 2, frames, bins]
 */
export const filterByPlace = ({ real, imaginary }: Spectrum, mask: Tensor): Spectrum =>
  tf.tidy(() => {
    const [left, right] = [0, 1].map((channel) => {
      const part = (both: Tensor) => channelOf(both, channel).squeeze([1]) // [lanes, frames, bins]
      return { real: part(real), imaginary: part(imaginary) }
    }) as [Spectrum, Spectrum]
    const { target, rest } = tf.tidy(() => {
      const powers = powersOf(left, right)
      return { target: covarianceOf(powers, mask), rest: covarianceOf(powers, tf.sub(1, mask)) }
    })
    const { gain, first, second } = tf.tidy(() => {
      const all = blend(target, mask, rest)
      return {
        gain: mask.div(determinantOf(all)),
        // The inverse of `all` times the spectrum …
        first: subtract(scaled(left, all.right), times(all, right)),
        second: subtract(scaled(right, all.left), times(conjugate(all), left)),
      }
    })
    // … times the covariance of the target.
    const outputs = [
      scaled(add(scaled(first, target.left), times(target, second)), gain),
      scaled(add(times(conjugate(target), first), scaled(second, target.right)), gain),
    ]
    const together = (part: keyof Spectrum) =>
      tf.stack(
        outputs.map((channel) => channel[part]),
        1,
      )
    return { real: together('real'), imaginary: together('imaginary') }
  })

/** Powers in each frame and bin. */
const powersOf = (left: Spectrum, right: Spectrum): Covariance =>
  tf.tidy(() => ({
    left: left.real.square().add(left.imaginary.square()),
    right: right.real.square().add(right.imaginary.square()),
    crossReal: left.real.mul(right.real).add(left.imaginary.mul(right.imaginary)),
    crossImaginary: left.imaginary.mul(right.real).sub(left.real.mul(right.imaginary)),
  }))

/**
 * Covariance of what a mask lets through, weighted towards frames with a high mask, at a mean power
 * of 1.
 */
const covarianceOf = (powers: Covariance, mask: Tensor): Covariance =>
  tf.tidy(() => {
    const weight = mask.square().square() // unsquared weights would make both covariances similar
    // [lanes, 1, bins]
    const sum = (part: keyof Covariance) => tf.tidy(() => powers[part].mul(weight).sum(1, true))
    const [left, right] = [sum('left'), sum('right')]
    const power = left.add(right).div(2).add(TINY)
    return {
      left: left.div(power).add(DIFFUSE),
      right: right.div(power).add(DIFFUSE),
      crossReal: sum('crossReal').div(power),
      crossImaginary: sum('crossImaginary').div(power),
    }
  })

/**
 * Returns `one` weighted by `share` in each frame and bin, plus `other` weighted by the remainder.
 */
function blend(one: Covariance, share: Tensor, other: Covariance): Covariance {
  const mixed = (part: keyof Covariance) =>
    tf.tidy(() => one[part].sub(other[part]).mul(share).add(other[part]))
  return {
    left: mixed('left'),
    right: mixed('right'),
    crossReal: mixed('crossReal'),
    crossImaginary: mixed('crossImaginary'),
  }
}

const determinantOf = ({ left, right, crossReal, crossImaginary }: Covariance): Tensor =>
  tf.tidy(() => left.mul(right).sub(crossReal.square()).sub(crossImaginary.square()))

const conjugate = (covariance: Covariance): Covariance => ({
  ...covariance,
  crossImaginary: covariance.crossImaginary.neg(),
})

/** Multiplies the covariance between the channels by one of the channels. */
const times = (
  { crossReal, crossImaginary }: Covariance,
  { real, imaginary }: Spectrum,
): Spectrum =>
  tf.tidy(() => ({
    real: crossReal.mul(real).sub(crossImaginary.mul(imaginary)),
    imaginary: crossReal.mul(imaginary).add(crossImaginary.mul(real)),
  }))

const scaled = ({ real, imaginary }: Spectrum, factor: Tensor): Spectrum => ({
  real: real.mul(factor),
  imaginary: imaginary.mul(factor),
})

const add = (one: Spectrum, other: Spectrum): Spectrum => ({
  real: one.real.add(other.real),
  imaginary: one.imaginary.add(other.imaginary),
})

const subtract = (one: Spectrum, other: Spectrum): Spectrum => ({
  real: one.real.sub(other.real),
  imaginary: one.imaginary.sub(other.imaginary),
})
