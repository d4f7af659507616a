/** A target's mask to a filter of two channels, by where in the stereo picture sounds are. */
import { tf, type Tensor } from '../tensor.ts'

/** Share of each covariance that is the same from everywhere: keeps them invertible. */
const DIFFUSE = 1e-3

/** A Hermitian 2 × 2 matrix for each bin, [1, 1, bins] each, or for each frame and bin. */
interface Covariance {
  left: Tensor
  right: Tensor
  crossReal: Tensor
  crossImaginary: Tensor
}

interface Complex {
  real: Tensor
  imaginary: Tensor
}

/**
 * The multichannel Wiener filter of a target and the rest, whose spatial covariances the mask gives:
 * bin by bin, over the whole chunk (N. Duong, E. Vincent, R. Gribonval, "Under-determined
 * reverberant audio source separation using a full-rank spatial covariance model", 2010). Where
 * target and rest come from the same place it is the mask.
 * @param spectrum complex [2, frames, bins]
 * @param mask [1, frames, bins], from 0 to 1
 * @returns complex [2, frames, bins]
 */
export function filterByPlace(spectrum: Tensor, mask: Tensor): Tensor {
  return tf.tidy(() => {
    const [left, right] = [0, 1].map((channel) => channelOf(spectrum, channel)) as [
      Complex,
      Complex,
    ]
    const rest = tf.sub(1, mask)
    const target = covarianceOf(left, right, mask)
    const all = blend(target, mask, covarianceOf(left, right, rest), rest)
    const determinant = all.left
      .mul(all.right)
      .sub(all.crossReal.square())
      .sub(all.crossImaginary.square())
    const gain = mask.div(determinant)
    // The inverse of `all` times the spectrum …
    const first = subtract(scaled(left, all.right), times(all, right))
    const second = subtract(scaled(right, all.left), times(conjugate(all), left))
    // … and the target's covariance times that.
    const outputs = [
      add(scaled(first, target.left), times(target, second)),
      add(times(conjugate(target), first), scaled(second, target.right)),
    ].map((channel) => scaled(channel, gain))
    return tf.complex(
      tf.concat(outputs.map(({ real }) => real)),
      tf.concat(outputs.map(({ imaginary }) => imaginary)),
    )
  })
}

const channelOf = (spectrum: Tensor, channel: number): Complex => ({
  real: tf.slice(tf.real(spectrum), [channel, 0, 0], [1, -1, -1]),
  imaginary: tf.slice(tf.imag(spectrum), [channel, 0, 0], [1, -1, -1]),
})

/** Of what a mask lets through, where it lets much through most; the mean power is 1. */
function covarianceOf(left: Complex, right: Complex, mask: Tensor): Covariance {
  const weight = mask.square().square() // with the mask itself both would be alike
  const sum = (x: Tensor) => x.mul(weight).sum(1, true) // [1, 1, bins]
  const powers = [left, right].map(({ real, imaginary }) =>
    sum(real.square().add(imaginary.square())),
  )
  const power = tf.addN(powers).div(2)
  const share = (x: Tensor) => tf.divNoNan(x, power)
  return {
    left: share(powers[0]!).add(DIFFUSE),
    right: share(powers[1]!).add(DIFFUSE),
    crossReal: share(sum(left.real.mul(right.real).add(left.imaginary.mul(right.imaginary)))),
    crossImaginary: share(sum(left.imaginary.mul(right.real).sub(left.real.mul(right.imaginary)))),
  }
}

/** Both, at their shares of each frame and bin. */
function blend(one: Covariance, share: Tensor, other: Covariance, rest: Tensor): Covariance {
  const mixed = (part: keyof Covariance) => one[part].mul(share).add(other[part].mul(rest))
  return {
    left: mixed('left'),
    right: mixed('right'),
    crossReal: mixed('crossReal'),
    crossImaginary: mixed('crossImaginary'),
  }
}

const conjugate = (covariance: Covariance): Covariance => ({
  ...covariance,
  crossImaginary: covariance.crossImaginary.neg(),
})

/** The covariance between the channels times one of them. */
const times = (
  { crossReal, crossImaginary }: Covariance,
  { real, imaginary }: Complex,
): Complex => ({
  real: crossReal.mul(real).sub(crossImaginary.mul(imaginary)),
  imaginary: crossReal.mul(imaginary).add(crossImaginary.mul(real)),
})

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
