/**
 * Matrices stacked for a joint product, with their rows in an order of our own and in the precision
 * of the products. Everything happens in the buffer that they are read into, so that loading needs
 * no memory beyond the result.
 */
import { roundToBfloat16 } from '../tensorflow/bfloat16.ts'
import { upload, uploadBfloat16, type Tensor } from '../tensorflow/tensor.ts'
import type { Weights } from '../checkpoint/weights.ts'

/** The weight of a torch.nn.Linear without bias: [outDim, inDim]. */
export interface MatrixPart {
  weights: Weights
  outDim: number
  /** Which stored row goes to a position; by default they keep their order. */
  rowAt?: RowOrder
}

export type RowOrder = (place: number) => number

export const asStored: RowOrder = (place) => place

/**
 * Returns [sum of outDim, inDim] in the precision of the first part's weights. The caller owns it.
 * @throws Error if a weight is missing or has the wrong shape
 */
export function readStacked(parts: readonly MatrixPart[], inDim: number): Tensor {
  const rows = parts.reduce((sum, { outDim }) => sum + outDim, 0)
  const shape: [number, number] = [rows, inDim]
  const { precision, scratch } = parts[0]!.weights
  const stored = Math.max(...parts.map(({ outDim }) => outDim)) * inDim
  if (precision === 'float32') {
    const numbers = scratch.laid(rows * inDim, stored)
    layRows(parts, inDim, (row, at) => numbers.set(row, at))
    return upload(numbers, shape)
  }
  const { buffer, byteOffset } = scratch.laid((rows * inDim) / 2, stored)
  const bits = new Uint16Array(buffer, byteOffset, rows * inDim)
  layRows(parts, inDim, (row, at) => roundToBfloat16(row, bits, at))
  return uploadBfloat16(bits, shape)
}

/** @param lay is called with a row and its offset */
function layRows(
  parts: readonly MatrixPart[],
  inDim: number,
  lay: (row: Float32Array, at: number) => void,
): void {
  let at = 0
  for (const { weights, outDim, rowAt = asStored } of parts) {
    const values = weights.values('weight', [outDim, inDim])
    for (let place = 0; place < outDim; place += 1, at += inDim) {
      const start = rowAt(place) * inDim
      lay(values.subarray(start, start + inDim), at)
    }
  }
}
