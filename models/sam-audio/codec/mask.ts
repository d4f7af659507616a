/**
 * Tells which frames of a padded batch are real. For a single row, a convolution reads zeros after
 * its end. It must find zeros there in a batch too, so the padding is zeroed before it is read.
 */
import { tf, type Tensor } from '../../tensorflow/tensor.ts'

/** How many real latent frames each row has; null if every row has full length. */
export type RowFrames = readonly number[] | null

/** Returns ones and zeros [batch, longest · rate, 1]; a latent frame has become `rate` frames. */
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
