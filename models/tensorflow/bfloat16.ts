/**
 * Products of matrices in half the width. A network is written once: its matrices say how wide its
 * products are. Tensors in between are float32, which the elementwise kernels of TensorFlow compute
 * several times as fast on a processor; only tensors merely moved from one product to the next stay
 * narrow.
 */
import { hasInstructions } from './processor.ts'
import type { Precision, PrecisionChoice } from './precision.ts'
import { deviceKind, isBfloat16, toBfloat16, toFloat32, type Tensor } from './tensor.ts'

export const choosePrecision = (choice: PrecisionChoice): Precision =>
  choice === 'auto' ? (isBfloat16Fast() ? 'bfloat16' : 'float32') : choice

/** On a processor without instructions for it, bfloat16 is slower than float32. */
function isBfloat16Fast(): boolean {
  return deviceKind() === 'gpu' || hasInstructions(/\b(avx512_bf16|amx_bf16)\b/)
}

/** The upper halves of numbers, rounded to the nearest, ties to the even one: as `toBfloat16`. */
export function roundToBfloat16(values: Float32Array, into: Uint16Array, at: number): void {
  const bits = new Uint32Array(values.buffer, values.byteOffset, values.length)
  for (let i = 0; i < bits.length; i += 1) {
    const word = bits[i]!
    const isNotANumber = (word & 0x7fff_ffff) > 0x7f80_0000
    into[at + i] = isNotANumber ? 0x7fc0 : (word + 0x7fff + ((word >>> 16) & 1)) >>> 16
  }
}

/** x as wide as `matrix`, to be multiplied with it. */
export const asWideAs = (matrix: Tensor, x: Tensor): Tensor =>
  isBfloat16(matrix) ? narrow(x) : widen(x)

/** x in float32. */
export const widen = (x: Tensor): Tensor => (isBfloat16(x) ? toFloat32(x) : x)

const narrow = (x: Tensor): Tensor => (isBfloat16(x) ? x : toBfloat16(x))
