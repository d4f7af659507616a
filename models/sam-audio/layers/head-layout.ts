/**
 * How the reference and this port lay out attention heads, as row orders: which row of a stored
 * weight goes to which position here.
 */
import type { RowOrder } from '../../layers/stacked-matrices.ts'

/**
 * In the reference, channel c of queries, keys and values belongs to head c mod heads. Reordered
 * once on loading, the channels of each head are side by side, as later steps need them anyway.
 */
export const headsSideBySide = (dim: number, heads: number): RowOrder => {
  const width = dim / heads
  return (place) => (place % width) * heads + Math.floor(place / width)
}
