/** A target's mask to a filter of two channels, by where in the stereo picture sounds are. */
import { tf, type Tensor } from '../tensor.ts'

/** Share of each covariance that is the same from everywhere: keeps them invertible. */
const DIFFUSE = 1e-3

/** Power far below any sound's: nothing is divided by 0. */
const TINY = 1e-30

/** A Hermitian 2 × 2 matrix for each bin, [lanes, 1, bins] each, or for each frame and bin. */
type Covariance = { left: Tensor; right: Tensor; crossReal: Tensor; crossImaginary: Tensor }

type Complex = { real: Tensor; imaginary: Tensor }

/**
 * The multichannel Wiener filter of a target and the rest, whose spatial covariances the mask
 * gives: bin by bin, over the whole chunk (N. Duong, E. Vincent, R. Gribonval, "Under-determined
 * reverberant audio source separation using a full-rank spatial covariance model", 2010). If target
 * and rest come from the same place it is the mask.
 * @param spectrum complex [lanes · 2, frames, bins]
 * @param mask [lanes, frames, bins], from 0 to 1
 * @returns complex [lanes · 2, frames, bins]
 */
export const filterByPlace = (spectrum: Tensor, mask: Tensor): Tensor =>
  tf.tidy(() => {
    const { real, imaginary } = filtered(tf.real(spectrum), tf.imag(spectrum), mask)
    return tf.complex(real, imaginary)
  })

const filtered = (real: Tensor, imaginary: Tensor, mask: Tensor): Complex =>
  tf.tidy(() => {
    const [rows, frames, bins] = real.shape as [number, number, number]
    const lanes = rows / 2
    const [left, right] = [0, 1].map((channel) => {
      const part = (both: Tensor) => {
        // The rows of a single lane are not copied.
        if (lanes === 1) return tf.slice(both, [channel, 0, 0], [1, -1, -1])
        return tf
          .slice(both.reshape([lanes, 2, frames, bins]), [0, channel, 0, 0], [-1, 1, -1, -1])
          .reshape([lanes, frames, bins])
      }
      return { real: part(real), imaginary: part(imaginary) }
    }) as [Complex, Complex]
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
    // … and the target's covariance times that.
    const outputs = [
      scaled(add(scaled(first, target.left), times(target, second)), gain),
      scaled(add(times(conjugate(target), first), scaled(second, target.right)), gain),
    ]
    const together = (part: keyof Complex) =>
      tf
        .stack(
          outputs.map((channel) => channel[part]),
          1,
        )
        .reshape([rows, frames, bins])
    return { real: together('real'), imaginary: together('imaginary') }
  })

/** Powers of each frame and bin. */
const powersOf = (left: Complex, right: Complex): Covariance =>
  tf.tidy(() => ({
    left: left.real.square().add(left.imaginary.square()),
    right: right.real.square().add(right.imaginary.square()),
    crossReal: left.real.mul(right.real).add(left.imaginary.mul(right.imaginary)),
    crossImaginary: left.imaginary.mul(right.real).sub(left.real.mul(right.imaginary)),
  }))

/**
 * Covariance of the sound that a mask lets through, where it lets much through most; the mean power
 * is 1.
 */
const covarianceOf = (powers: Covariance, mask: Tensor): Covariance =>
  tf.tidy(() => {
    const weight = mask.square().square() // with the mask itself both would be alike
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

/** `one` at its share of each frame and bin, and `other` at what is left. */
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

/** The covariance between the channels times one of them. */
const times = ({ crossReal, crossImaginary }: Covariance, { real, imaginary }: Complex): Complex =>
  tf.tidy(() => ({
    real: crossReal.mul(real).sub(crossImaginary.mul(imaginary)),
    imaginary: crossReal.mul(imaginary).add(crossImaginary.mul(real)),
  }))

const scaled = ({ real, imaginary }: Complex, factor: Tensor): Complex => ({
  real: real.mul(factor),
  imaginary: imaginary.mul(factor),
})

const add = (one: Complex, other: Complex): Complex => ({
  real: one.real.add(other.real),
  imaginary: one.imaginary.add(other.imaginary),
})

const subtract = (one: Complex, other: Complex): Complex => ({
  real: one.real.sub(other.real),
  imaginary: one.imaginary.sub(other.imaginary),
})
