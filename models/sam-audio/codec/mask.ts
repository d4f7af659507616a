/**
 * Which frames of a padded batch are real. A convolution reads zeros beyond the end of a row that
 * is alone; in company it must find zeros there too, so what it reads is zeroed there.
 */
import { tf, type Tensor } from '../../tensorflow/tensor.ts'

/** Real latent frames of each row, and of the whole batch; null: every row is of full length. */
export type RowFrames = readonly number[] | null

/** [batch, longest · rate, 1] of 1 and 0, `rate` being what a latent frame has become. */
export function frameMask(rows: RowFrames, longest: number, rate = 1): Tensor | null {
  if (!rows || rows.every((frames) => frames >= longest)) return null
  const positions = longest * rate
  const mask = new Float32Array(rows.length * positions)
  for (const [i, frames] of rows.entries()) {
    mask.fill(1, i * positions, i * positions + Math.min(frames * rate, positions))
  }
  return tf.tensor3d(mask, [rows.length, positions, 1])
}

export const applyMask = (x: Tensor, mask: Tensor | null): Tensor => (mask ? x.mul(mask) : x)
