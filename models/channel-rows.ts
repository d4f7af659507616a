/** Channels as rows of a network that takes one or two at a time, and back. */

/**
 * Two neighbouring channels are a row of two; one that is left alone is on both sides of its own.
 * @param channels [channels][samples]
 * @param width channels of a row, 1 or 2
 * @returns [rows][width], the channels themselves
 */
export function rowsOf(channels: readonly Float32Array[], width: number): Float32Array[][] {
  const rows = Math.ceil(channels.length / width)
  return Array.from({ length: rows }, (_, row) =>
    Array.from({ length: width }, (_, side) => {
      const first = row * width
      return channels[first + side] ?? channels[first]!
    }),
  )
}

/** The inverse, in the memory of `rows`: a channel that was on both sides is their mean. */
export function channelsOf(
  rows: readonly (readonly Float32Array[])[],
  count: number,
): Float32Array[] {
  const waves = rows.flat()
  if (waves.length === count) return waves
  const [left, right] = waves.splice(-2) as [Float32Array, Float32Array]
  for (let i = 0; i < left.length; i += 1) left[i] = (left[i]! + right[i]!) / 2
  return [...waves, left]
}
