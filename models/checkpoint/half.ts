/** Converts numbers to IEEE half precision. */

/** How many bits of a float32's fraction do not fit into a half. */
const DROPPED_BITS = 13
/** The difference between the exponent biases of float32 and half. */
const EXPONENT_SHIFT = 112

/**
 * Writes the bits of each number into `into`, rounded to nearest, ties to even; beyond 65,504 to
 * infinity.
 */
export function roundToHalf(values: Float32Array, into: Uint16Array): void {
  const words = new Uint32Array(values.buffer, values.byteOffset, values.length)
  for (let i = 0; i < words.length; i += 1) into[i] = halfOf(words[i]!)
}

function halfOf(word: number): number {
  const sign = (word >>> 16) & 0x8000
  const magnitude = word & 0x7fff_ffff
  if (magnitude > 0x7f80_0000) return sign | 0x7e00 // not a number
  const exponent = (magnitude >>> 23) - EXPONENT_SHIFT
  if (exponent >= 31) return sign | 0x7c00
  if (exponent > 0) return sign + roundedShift(magnitude - (EXPONENT_SHIFT << 23), DROPPED_BITS)
  if (exponent < -10) return sign // below half of the smallest
  const fraction = (magnitude & 0x7f_ffff) | 0x80_0000 // with the one that an exponent implies
  return sign + roundedShift(fraction, DROPPED_BITS + 1 - exponent)
}

/** Returns value / 2^bits, rounded to the nearest integer, ties to even. */
function roundedShift(value: number, bits: number): number {
  const kept = value >>> bits
  const rest = value & ((1 << bits) - 1)
  const half = 1 << (bits - 1)
  return rest > half || (rest === half && kept & 1) ? kept + 1 : kept
}
