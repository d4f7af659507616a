/** Which frames of a padded batch are real, in the forms that the network needs. */
import { keyBias } from '../../layers/layers.ts'
import { tf, type Tensor } from '../../tensorflow/tensor.ts'
import { frameMask } from '../codec/mask.ts'

export interface RowMask {
  /** [batch, longest, 1], ones and zeros. */
  valid: Tensor
  /** [batch, 1, 1], the number of real frames of each row. */
  counts: Tensor
  /** [batch, 1, 1, longest], to be added to attention scores. */
  keys: Tensor
}

/** Returns null if every row has full length, because nothing needs masking then. */
export function rowMask(rows: readonly number[], longest: number): RowMask | null {
  const valid = frameMask(rows, longest)
  if (!valid) return null
  const counts = tf.tensor3d([...rows], [rows.length, 1, 1])
  const keys = tf.tidy(() => keyBias(valid.squeeze([2])))
  return { valid, counts, keys }
}
