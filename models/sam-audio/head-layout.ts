/**
 * How the reference lays out attention heads, and how this port does. There, channel c of queries,
 * keys and values belongs to head c mod heads; turned once at load, each head's are side by side,
 * as they are afterwards anyway.
 */
import { tf, type Tensor } from '../tensor.ts'

/** Rows of a weight [width · heads, in] to [heads · width, in]. */
export const headsSideBySide = (weight: Tensor, heads: number): Tensor => tf.tidy(() => {
  const [dim, inDim] = weight.shape as [number, number]
  return tf.transpose(weight.reshape([dim / heads, heads, inDim]), [1, 0, 2]) // [heads, width, in]
    .reshape([dim, inDim])
})

/**
 * Rows of a weight [heads · width, ...] with the first parts of every head's pairs before the
 * second ones: neighbours 2i and 2i + 1 become i and i + width / 2. Scores do not notice, as long
 * as queries, keys and their gains are treated alike.
 */
export const pairsInHalves = (weight: Tensor, heads: number): Tensor => tf.tidy(() => {
  const [dim, ...rest] = weight.shape as [number, ...number[]]
  const half = dim / heads / 2
  return tf.transpose(weight.reshape([heads, half, 2, -1]), [0, 2, 1, 3]) // [heads, 2, half, …]
    .reshape([dim, ...rest])
})
