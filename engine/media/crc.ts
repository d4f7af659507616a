/**
 * The CRC-32 of Ogg and of MPEG transport streams. They process the highest bit first, which Node's
 * zlib does not support.
 */

const TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte << 24
  for (let bit = 0; bit < 8; bit += 1) crc = (crc << 1) ^ (crc < 0 ? 0x04c11db7 : 0)
  return crc >>> 0
})

/**
 * Returns the CRC of `bytes`.
 * @param start 0 for Ogg, 0xffffffff for MPEG
 */
export function crcOf(bytes: Uint8Array, start: number): number {
  let crc = start
  for (const byte of bytes) crc = (crc << 8) ^ TABLE[(crc >>> 24) ^ byte]!
  return crc >>> 0
}
