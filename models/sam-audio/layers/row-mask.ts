/** Which frames of a padded batch are real, in the forms that the network needs. */
import { keyBias } from '../../layers/layers.ts'
import { tf, type Tensor } from '../../tensorflow/tensor.ts'
import { frameMask } from '../codec/mask.ts'

export interface RowMask {
  /** [batch, longest, 1] of 1 and 0. */
  valid: Tensor
  /** [batch, 1, 1], real frames of each row. */
  counts: Tensor
  /** Added to the scores of attention, [batch, 1, 1, longest]. */
  keys: Tensor
}

/** Null when every row is of full length: then nothing needs masking. */
export function rowMask(rows: readonly number[], longest: number): RowMask | null {
  const valid = frameMask(rows, longest)
  if (!valid) return null
  const counts = tf.tensor3d([...rows], [rows.length, 1, 1])
  const keys = tf.tidy(() => keyBias(valid.squeeze([2])))
  return { valid, counts, keys }
}
