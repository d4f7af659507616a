/**
 * Products of matrices in half the width. A network is written once: its matrices say how wide its
 * products are. What stands in between is float32, which the elementwise kernels of TensorFlow
 * compute several times as fast on a processor; only what goes from one product to the next by
 * being moved stays narrow.
 */
import { readFileSync } from 'node:fs'
import type { Precision, PrecisionChoice } from './precision.ts'
import { deviceKind, isBfloat16, toBfloat16, toFloat32, type Tensor } from './tensor.ts'

export const choosePrecision = (choice: PrecisionChoice): Precision =>
  (choice === 'auto' ? (isBfloat16Fast() ? 'bfloat16' : 'float32') : choice)

/** On a processor without instructions for it, bfloat16 is slower than float32. */
function isBfloat16Fast(): boolean {
  if (deviceKind() === 'gpu') return true
  try {
    return /\b(avx512_bf16|amx_bf16)\b/.test(readFileSync('/proc/cpuinfo', 'utf8'))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false // not Linux
    throw error
  }
}

/** x in the precision asked for: x itself where it is so already. */
export const inPrecision = (x: Tensor, precision: Precision): Tensor =>
  precision === 'bfloat16' ? narrow(x) : widen(x)

/** x as wide as `matrix`, to be multiplied with it. */
export const asWideAs = (matrix: Tensor, x: Tensor): Tensor =>
  (isBfloat16(matrix) ? narrow(x) : widen(x))

/** x in float32. */
export const widen = (x: Tensor): Tensor => (isBfloat16(x) ? toFloat32(x) : x)

const narrow = (x: Tensor): Tensor => (isBfloat16(x) ? x : toBfloat16(x))
