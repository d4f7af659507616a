/**
 * How the reference lays out attention heads, and how this port does, as orders of rows: which row
 * of a stored weight comes at a place of ours.
 */
import type { RowOrder } from '../../stacked-matrices.ts'

/**
 * In the reference, channel c of queries, keys and values belongs to head c mod heads; turned once
 * at load, each head's are side by side, as they are afterwards anyway.
 */
export const headsSideBySide = (dim: number, heads: number): RowOrder => {
  const width = dim / heads
  return (place) => (place % width) * heads + Math.floor(place / width)
}

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
