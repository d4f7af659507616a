/**
 * Matrix products in bfloat16. A network is written only once; its matrices determine the precision
 * of its products. Tensors in between are float32, because TensorFlow's elementwise kernels are
 * several times as fast on those on a CPU. Only tensors that go straight from one product to
 * the next stay in bfloat16.
 */
import { hasInstructions } from './cpu.ts'
import type { Precision, PrecisionChoice } from './precision.ts'
import { deviceKind, isBfloat16, toBfloat16, toFloat32, type Tensor } from './tensor.ts'

export const choosePrecision = (choice: PrecisionChoice): Precision =>
  choice === 'auto' ? (isBfloat16Fast() ? 'bfloat16' : 'float32') : choice

/** Without special instructions, bfloat16 is slower than float32 on a CPU. */
function isBfloat16Fast(): boolean {
  return deviceKind() === 'gpu' || hasInstructions(/\b(avx512_bf16|amx_bf16)\b/)
}

/**
 * Keeps the upper halves of float32 values, rounded to nearest, ties to even, like `toBfloat16`.
 */
export function roundToBfloat16(values: Float32Array, into: Uint16Array, at: number): void {
  const bits = new Uint32Array(values.buffer, values.byteOffset, values.length)
  for (let i = 0; i < bits.length; i += 1) {
    const word = bits[i]!
    const isNotANumber = (word & 0x7fff_ffff) > 0x7f80_0000
    into[at + i] = isNotANumber ? 0x7fc0 : (word + 0x7fff + ((word >>> 16) & 1)) >>> 16
  }
}

/** Converts x to the precision of `matrix`, to be multiplied with it. */
export const asWideAs = (matrix: Tensor, x: Tensor): Tensor =>
  isBfloat16(matrix) ? narrow(x) : widen(x)

/** Converts x to float32. */
export const widen = (x: Tensor): Tensor => (isBfloat16(x) ? toFloat32(x) : x)

const narrow = (x: Tensor): Tensor => (isBfloat16(x) ? x : toBfloat16(x))
