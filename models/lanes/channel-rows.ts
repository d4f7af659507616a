/**
 * Maps the channels of a mixture to the rows of a network that takes one or two channels, and back.
 */

/**
 * For each left loudspeaker, the right one of its pair: front, back, front centre, side, top front,
 * top back, downmix, wide, surround direct, top side, bottom. The numbers are bits of the channel
 * mask in a WAV header, or of FFmpeg's longer mask.
 */
// prettier-ignore
const RIGHT_OF: Readonly<Record<number, number>> = {
  0: 1, 4: 5, 6: 7, 9: 10, 12: 14, 15: 17, 29: 30, 31: 32, 33: 34, 36: 37, 39: 40,
}

/** The channel on each side of a row; both may be the same channel. */
type Row = readonly number[]

/**
 * Returns which channels go to the `width` sides of each row. With two sides, left and right
 * loudspeakers that belong together share a row, and every other channel has a row of its own, in
 * which it is on both sides.
 * @param mask the loudspeakers; 0 if unknown, in which case two channels count as a pair and more
 *   than two as single channels
 */
export function rowsFor(count: number, width: number, mask = 0n): Row[] {
  const all = Array.from({ length: count }, (_, channel) => channel)
  if (width === 1) return all.map((channel) => [channel])
  if (mask === 0n && count === 2) return [[0, 1]]
  const partners = partnersOf(mask)
  return all.flatMap((channel) => {
    const partner = partners.get(channel) ?? channel
    return partner < channel ? [] : [[channel, partner]]
  })
}

/** Maps the index of each channel of a pair to the index of the other. */
function partnersOf(mask: bigint): Map<number, number> {
  const bits = [...mask.toString(2)].toReversed()
  const places = bits.flatMap((bit, place) => (bit === '1' ? [place] : []))
  const partners = new Map<number, number>()
  for (const [left, place] of places.entries()) {
    const right = places.indexOf(RIGHT_OF[place] ?? -1)
    if (right >= 0) partners.set(left, right).set(right, left)
  }
  return partners
}

/**
 * @param channels [channels][samples]
 * @returns [rows][sides], which share the memory of `channels`
 */
export const sidesOf = (
  channels: readonly Float32Array[],
  rows: readonly Row[],
): Float32Array[][] => rows.map((row) => row.map((channel) => channels[channel]!))

/**
 * The inverse of `sidesOf`, in place (overwrites `sides`). A channel that was on both sides becomes
 * the mean of the two.
 */
export function channelsOf(
  sides: readonly (readonly Float32Array[])[],
  rows: readonly Row[],
): Float32Array[] {
  const channels: Float32Array[] = []
  for (const [i, [left, right = left]] of rows.entries()) {
    const [first, second] = sides[i]! as [Float32Array, Float32Array | undefined]
    if (second && left === right) averageInto(first, second)
    channels[left!] = first
    if (second && left !== right) channels[right!] = second
  }
  return channels
}

/** Replaces `first` by the mean of both. */
function averageInto(first: Float32Array, second: Float32Array): void {
  for (let i = 0; i < first.length; i += 1) first[i] = (first[i]! + second[i]!) / 2
}
