/**
 * The sample rate that a frame of AAC states. FFmpeg times a stream of AAC by the rate of its
 * beginning, also where recordings of several rates were put together.
 */

import type { Packet } from 'node-av/lib'

/** ISO/IEC 14496-3, table 1.18. */
const RATES = [96, 88.2, 64, 48, 44.1, 32, 24, 22.05, 16, 12, 11.025, 8, 7.35].map(
  (kilohertz) => kilohertz * 1_000,
)

/** In hertz; null where the packet does not say, or is of another coding. */
export function statedRate({ data }: Packet): number | null {
  if (!data || data.length < 7) return null
  const place = placeOf(data)
  if (place === null) return null
  return RATES[(data.readUInt16BE(place >> 3) >> (12 - (place & 7))) & 15] ?? null
}

/** In which bit the index of the rate begins, after a header of ADTS or LOAS. */
function placeOf(data: Buffer): number | null {
  const sync = data.readUInt16BE(0)
  if (sync >> 4 === 0xfff) return 18
  // A frame of LOAS may say that it is as the one before.
  return sync >> 5 === 0x2b7 && data[3]! >> 6 === 0 ? 45 : null
}
