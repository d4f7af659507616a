/** Times the operations of the native library: within a graph they cannot be separated. */
import { tf } from '../models/tensorflow/tensor.ts'

type ExecuteOp = (
  name: string,
  attributes: { name: string; value: unknown }[],
  ids: number[],
  outputs: number,
) => unknown

/** Calls and milliseconds of every operation, by name and type, while `run` runs. */
export function timeOperations(run: () => void): Map<string, { calls: number; millis: number }> {
  const backend = tf.backend() as unknown as { binding: { executeOp: ExecuteOp } }
  const { binding } = backend
  const found = new Map<string, { calls: number; millis: number }>()
  const executeOp: ExecuteOp = (name, attributes, ids, outputs) => {
    const startedAt = performance.now()
    const answer = binding.executeOp(name, attributes, ids, outputs)
    const type = String(attributes.find((attribute) => attribute.name === 'T')?.value as number)
    const sum = found.get(`${name} ${type}`) ?? { calls: 0, millis: 0 }
    sum.calls += 1
    sum.millis += performance.now() - startedAt
    found.set(`${name} ${type}`, sum)
    return answer
  }
  backend.binding = Object.create(binding, { executeOp: { value: executeOp } }) // it is frozen
  run()
  backend.binding = binding
  return found
}
