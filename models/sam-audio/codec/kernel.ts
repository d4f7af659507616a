/**
 * Converts convolution weights from the codec's format (torch.nn.utils.weight_norm) to the layout
 * used here. This happens in the buffer they were read into, because the native library would keep
 * the memory of every intermediate tensor.
 */
import type { Scratch } from '../../checkpoint/stored-tensor.ts'
import type { Weights } from '../../checkpoint/weights.ts'

/** Shape in PyTorch's order: outputs, inputs and kernel size; inputs come first for upsampling. */
export type KernelShape = readonly [number, number, number]

/** Names of the magnitude and direction of a weight-normed kernel, before and since PyTorch 2.0. */
const SPELLINGS = [
  { length: 'weight_g', direction: 'weight_v' },
  { length: 'parametrizations.weight.original0', direction: 'parametrizations.weight.original1' },
] as const

/**
 * Returns a kernel's values with its norm folded in (or as stored, if it has none). They are valid
 * until the next weight is read.
 * @throws Error if it is missing or has another shape
 */
export function readKernel(weights: Weights, shape: KernelShape): Float32Array {
  const spelling = SPELLINGS.find(({ direction }) => weights.has(direction))
  if (!spelling) return weights.values('weight', shape)
  const { length, direction } = spelling
  const lengths = weights.values(length, [shape[0], 1, 1]).slice()
  const values = weights.values(direction, shape)
  const size = shape[1] * shape[2]
  for (const [row, gain] of lengths.entries()) {
    scaleTo(gain, values.subarray(row * size, (row + 1) * size))
  }
  return values
}

function scaleTo(length: number, vector: Float32Array): void {
  let power = 0
  for (let i = 0; i < vector.length; i += 1) power += vector[i]! ** 2
  const factor = length / Math.sqrt(power)
  for (let i = 0; i < vector.length; i += 1) vector[i]! *= factor
}

/** Transposes [a, b, c] to [c, b, a]. */
export function reverseAxes(
  values: Float32Array,
  [a, b, c]: KernelShape,
  scratch: Scratch,
): Float32Array {
  const turned = scratch.laid(a * b * c, values.length)
  if (values.length === 0) return turned // a dry run with shapes only has no values
  let at = 0
  for (let k = 0; k < c; k += 1) {
    for (let j = 0; j < b; j += 1) {
      for (let i = 0; i < a; i += 1, at += 1) turned[at] = values[(i * b + j) * c + k]!
    }
  }
  return turned
}

/** Transposes [a, b, c] to [a, c, b], in place. */
export function swapLastAxes(values: Float32Array, [a, b, c]: KernelShape): Float32Array {
  if (values.length === 0) return values // a dry run with shapes only has no values
  const block = new Float32Array(b * c)
  let at = 0
  for (let i = 0; i < a; i += 1) {
    block.set(values.subarray(at, at + b * c))
    for (let k = 0; k < c; k += 1) {
      for (let j = 0; j < b; j += 1, at += 1) values[at] = block[j * c + k]!
    }
  }
  return values
}
