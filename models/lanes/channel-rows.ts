/** Channels as rows of a network that takes one or two at a time, and back. */

/**
 * Loudspeakers on the left, each with its own on the right: front, back, of the centre, side, top
 * front, top back, mixed down, wide, surround direct, top side, bottom. They are bits of a WAV
 * header's channel mask, and of FFmpeg's longer one.
 */
// prettier-ignore
const RIGHT_OF: Readonly<Record<number, number>> = {
  0: 1, 4: 5, 6: 7, 9: 10, 12: 14, 15: 17, 29: 30, 31: 32, 33: 34, 36: 37, 39: 40,
}

/** As a row has them: the channel on each side, which may be the same one. */
type Row = readonly number[]

/**
 * Which channels a row of `width` has on its sides: of two, left and right loudspeakers that belong
 * together, and every other channel alone, on both sides.
 * @param mask the loudspeakers; 0: not known, so two channels are a pair, and of more none is
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

/** Index of the channel that belongs to another one, by the index of that. */
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
 * @returns [rows][sides], the channels themselves
 */
export const sidesOf = (
  channels: readonly Float32Array[],
  rows: readonly Row[],
): Float32Array[][] => rows.map((row) => row.map((channel) => channels[channel]!))

/** The inverse, in the memory of `sides`: a channel that was on both is their mean. */
export function channelsOf(
  sides: readonly (readonly Float32Array[])[],
  rows: readonly Row[],
): Float32Array[] {
  const channels: Float32Array[] = []
  for (const [i, [left, right = left]] of rows.entries()) {
    const [first, second] = sides[i]! as [Float32Array, Float32Array | undefined]
    if (second && left === right) addHalves(first, second)
    channels[left!] = first
    if (second && left !== right) channels[right!] = second
  }
  return channels
}

/** `first` becomes the mean of both. */
function addHalves(first: Float32Array, second: Float32Array): void {
  for (let i = 0; i < first.length; i += 1) first[i] = (first[i]! + second[i]!) / 2
}
