/**
 * Times the operations of the native library. It needs single operations, since those in a graph
 * cannot be told apart.
 */
import { tf } from '../models/tensorflow/tensor.ts'

type ExecuteOp = (
  name: string,
  attributes: { name: string; value: unknown }[],
  ids: number[],
  outputs: number,
) => unknown

/** Counts the calls and milliseconds of every operation, by name and type, during `run`. */
export function timeOperations(run: () => void): Map<string, { calls: number; millis: number }> {
  const backend = tf.backend() as unknown as { binding: { executeOp: ExecuteOp } }
  const { binding } = backend
  const sums = new Map<string, { calls: number; millis: number }>()
  const executeOp: ExecuteOp = (name, attributes, ids, outputs) => {
    const startedAt = performance.now()
    const answer = binding.executeOp(name, attributes, ids, outputs)
    const type = String(attributes.find((attribute) => attribute.name === 'T')?.value as number)
    const sum = sums.get(`${name} ${type}`) ?? { calls: 0, millis: 0 }
    sum.calls += 1
    sum.millis += performance.now() - startedAt
    sums.set(`${name} ${type}`, sum)
    return answer
  }
  // The binding is frozen, so another object takes its place.
  backend.binding = Object.create(binding, { executeOp: { value: executeOp } })
  run()
  backend.binding = binding
  return sums
}
