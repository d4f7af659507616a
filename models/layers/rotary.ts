/** Rotary position embedding (RoPE): rotates pairs of channels of queries and keys. */
import type { RowOrder } from './stacked-matrices.ts'
import { rollLastAxis, tf, type Tensor } from '../tensorflow/tensor.ts'

/** [frames, width] each; the two halves of `width` hold the two parts of every pair. */
export interface Rotary {
  cos: Tensor
  /** Negative for the first parts of the pairs. */
  sin: Tensor
}

/** Makes the tables for all positions, with the frequencies of SAM-Audio. */
export function makeRotary(
  width: number,
  positionsMax: number,
  theta = Math.max(10_000, 2 * positionsMax),
): (frames: number) => Rotary {
  const frequencies = Array.from({ length: width / 2 }, (_, i) =>
    Math.fround(1 / Math.fround(theta ** Math.fround((2 * i) / width))),
  )
  return rotaryTables(frequencies, positionsMax)
}

/**
 * Makes the tables for the first positions. The angles are float32 as in the references: exact ones
 * would differ by up to 6e-4 at far positions.
 * @param frequencies of each pair, in radians per position
 */
export function rotaryTables(
  frequencies: readonly number[],
  positionsMax: number,
): (frames: number) => Rotary {
  const half = frequencies.length
  const width = 2 * half
  const cos = new Float32Array(positionsMax * width)
  const sin = new Float32Array(positionsMax * width)
  for (let position = 0; position < positionsMax; position += 1) {
    for (const [i, frequency] of frequencies.entries()) {
      const angle = Math.fround(position * frequency)
      const at = position * width + i
      cos[at] = cos[at + half] = Math.cos(angle)
      sin[at + half] = Math.sin(angle)
      sin[at] = -sin[at + half]!
    }
  }
  const shape: [number, number] = [positionsMax, width]
  const all = { cos: tf.tensor2d(cos, shape), sin: tf.tensor2d(sin, shape) }
  return (frames) => ({
    cos: tf.slice(all.cos, [0, 0], [frames, width]),
    sin: tf.slice(all.sin, [0, 0], [frames, width]),
  })
}

/** Folds a gain per channel, broadcastable to [..., width], into the tables. */
export const withGain = ({ cos, sin }: Rotary, gain: Tensor): Rotary =>
  tf.tidy(() => ({ cos: cos.mul(gain), sin: sin.mul(rollLastAxis(gain, gain.shape.at(-1)! / 2)) }))

/** Rotates the pairs of x [..., frames, width]. */
export const rotate = (x: Tensor, { cos, sin }: Rotary): Tensor =>
  tf.tidy(() => x.mul(cos).add(rollLastAxis(x, x.shape.at(-1)! / 2).mul(sin)))

/**
 * Moves the first parts of all pairs of a head before the second parts: channels 2i and 2i + 1 of
 * `width` go to i and i + width / 2. Scores do not change, as long as queries, keys and their gains
 * are all permuted this way.
 */
export const pairsInHalves =
  (width: number): RowOrder =>
  (place) => {
    const channel = place % width
    const [part, pair] = [Math.floor(channel / (width / 2)), channel % (width / 2)]
    return place - channel + 2 * pair + part
  }
