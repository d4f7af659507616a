/**
 * Matrices as they are laid for products: one under the other, their rows in an order of our own,
 * in the width of the products. All work happens in the buffer that they are read into: loading
 * needs no other memory besides the result.
 */
import { roundToBfloat16 } from '../tensorflow/bfloat16.ts'
import { upload, uploadBfloat16, type Tensor } from '../tensorflow/tensor.ts'
import type { Weights } from '../checkpoint/weights.ts'

/** The weight of a torch.nn.Linear without a bias: [outDim, inDim]. */
export interface MatrixPart {
  weights: Weights
  outDim: number
  /** Which of the stored rows comes at a place; without it, they stay as they are. */
  rowAt?: RowOrder
}

export type RowOrder = (place: number) => number

export const asStored: RowOrder = (place) => place

/**
 * To [sum of outDim, inDim], as wide as the weights of the first part say. The caller owns it.
 * @throws Error when a weight is absent or shaped otherwise
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

/** @param lay takes a row and where it begins */
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
