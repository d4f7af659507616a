/**
 * Caches JavaScript numbers, such as the epsilon of `x.add(epsilon)`, as tensors. Otherwise each
 * use would copy a new tensor to the device and wait for that: some 190 times in one pass of a
 * transformer with 22 layers.
 */
import type { Binding } from './binding.ts'

/** Scalars computed from results never repeat, so only this many are kept. */
const CONSTANTS_MAX = 256

/**
 * Wraps the binding so that the same float32 scalar is always the same tensor, which is never
 * deleted.
 */
export function withConstants(binding: Binding): Binding {
  const ids = new Map<string, number>()
  const constants = new Set<number>()
  const createTensor: Binding['createTensor'] = (shape, type, values) => {
    if (shape.length > 0 || type !== binding.TF_FLOAT) {
      return binding.createTensor(shape, type, values)
    }
    const name = Object.is(values[0], -0) ? '-0' : String(values[0])
    const existing = ids.get(name)
    if (existing !== undefined) return existing
    const id = binding.createTensor(shape, type, values)
    if (ids.size < CONSTANTS_MAX) {
      ids.set(name, id)
      constants.add(id)
    }
    return id
  }
  const deleteTensor: Binding['deleteTensor'] = (id) => {
    if (!constants.has(id)) binding.deleteTensor(id)
  }
  return Object.create(binding, {
    createTensor: { value: createTensor },
    deleteTensor: { value: deleteTensor },
  }) as Binding
}
