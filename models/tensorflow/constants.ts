/**
 * Numbers of JavaScript, such as the epsilon of `x.add(epsilon)`, as tensors that are made once. A
 * tensor of its own for each use would be copied to the device, which waits for that: some 190
 * times in one evaluation of a transformer of 22 layers.
 */
import type { Binding } from './binding.ts'

/** Scalars that depend on results never end: only so many are kept. */
const KEPT_MAX = 256

/** The binding; the same float32 scalar is the same tensor there, which is never deleted. */
export function withConstants(binding: Binding): Binding {
  const ids = new Map<string, number>()
  const kept = new Set<number>()
  const createTensor: Binding['createTensor'] = (shape, type, values) => {
    if (shape.length > 0 || type !== binding.TF_FLOAT) {
      return binding.createTensor(shape, type, values)
    }
    const name = Object.is(values[0], -0) ? '-0' : String(values[0])
    const known = ids.get(name)
    if (known !== undefined) return known
    const id = binding.createTensor(shape, type, values)
    if (ids.size < KEPT_MAX) {
      ids.set(name, id)
      kept.add(id)
    }
    return id
  }
  const deleteTensor: Binding['deleteTensor'] = (id) => {
    if (!kept.has(id)) binding.deleteTensor(id)
  }
  return Object.create(binding, {
    createTensor: { value: createTensor },
    deleteTensor: { value: deleteTensor },
  }) as Binding
}
