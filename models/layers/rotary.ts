/** Rotary position embedding: rotates pairs of channels of queries and keys (RoPE). */
import type { RowOrder } from './stacked-matrices.ts'
import { rollLastAxis, tf, type Tensor } from '../tensorflow/tensor.ts'

/** [frames, width] each, the two halves of `width` being the two parts of every pair. */
export interface Rotary {
  cos: Tensor
  /** Negative for the first part of the pairs. */
  sin: Tensor
}

/** Tables of every position, as `rotaryTables` makes them, for SAM-Audio's frequencies. */
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
 * Tables of the first positions; angles in float32, as references make them: at far positions exact
 * ones would differ by as much as 6e-4.
 * @param frequencies of each pair, in radians a position
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

/** The tables with a gain per channel, [..., width] that broadcasts, worked in. */
export const withGain = ({ cos, sin }: Rotary, gain: Tensor): Rotary =>
  tf.tidy(() => ({ cos: cos.mul(gain), sin: sin.mul(rollLastAxis(gain, gain.shape.at(-1)! / 2)) }))

/** Turns the pairs of x [..., frames, width]. */
export const rotate = (x: Tensor, { cos, sin }: Rotary): Tensor =>
  tf.tidy(() => x.mul(cos).add(rollLastAxis(x, x.shape.at(-1)! / 2).mul(sin)))

/**
 * The first parts of every head's pairs before the second ones: neighbours 2i and 2i + 1 of a
 * head's `width` channels come to i and i + width / 2. Scores do not notice, as long as queries,
 * keys and their gains are treated alike.
 */
export const pairsInHalves =
  (width: number): RowOrder =>
  (place) => {
    const channel = place % width
    const [part, pair] = [Math.floor(channel / (width / 2)), channel % (width / 2)]
    return place - channel + 2 * pair + part
  }
