/**
 * How the reference lays out attention heads, and how this port does, as orders of rows: which row
 * of a stored weight comes at a place of ours.
 */
import type { RowOrder } from '../../layers/stacked-matrices.ts'

/**
 * In the reference, channel c of queries, keys and values belongs to head c mod heads; turned once
 * at load, each head's are side by side, as they are afterwards anyway.
 */
export const headsSideBySide = (dim: number, heads: number): RowOrder => {
  const width = dim / heads
  return (place) => (place % width) * heads + Math.floor(place / width)
}
