/**
 * Reads the sample rate that an AAC frame states. FFmpeg times a whole AAC stream by its initial
 * rate, even if recordings with several rates were concatenated.
 */

import type { Packet } from 'node-av/lib'

/** ISO/IEC 14496-3, table 1.18. */
const RATES = [96, 88.2, 64, 48, 44.1, 32, 24, 22.05, 16, 12, 11.025, 8, 7.35].map(
  (kilohertz) => kilohertz * 1_000,
)

/** In hertz; null if the packet does not say, or is not AAC. */
export function statedRate({ data }: Packet): number | null {
  if (!data || data.length < 7) return null
  const place = placeOf(data)
  if (place === null) return null
  return RATES[(data.readUInt16BE(place >> 3) >> (12 - (place & 7))) & 15] ?? null
}

/** Returns the position of the bit at which the rate index begins, after an ADTS or LOAS header. */
function placeOf(data: Buffer): number | null {
  const sync = data.readUInt16BE(0)
  if (sync >> 4 === 0xfff) return 18
  // A LOAS frame may say that it has the configuration of the one before.
  return sync >> 5 === 0x2b7 && data[3]! >> 6 === 0 ? 45 : null
}
