/**
 * Preloaded by xla.test.ts. Builds graphs as for a GPU, and makes the first call of each wait until
 * XLA has compiled it, so that tests exercise the compiled graph. Fails the test if XLA rejects a
 * graph.
 */
import type { Binding } from '../../../models/tensorflow/binding.ts'
import { native } from '../../../models/tensorflow/tensor.ts'

Object.assign(native, { isUsingGpuDevice: true })
const { binding } = native
const attributes = [{ name: '_XlaMustCompile', type: binding.TF_ATTR_BOOL, value: true }]
const compileFunction: Binding['compileFunction'] = (name, ids, outputs, done) => {
  for (const { id } of binding.executeOp(name, attributes, ids, outputs)) binding.deleteTensor(id)
  done(null)
}
native.binding = Object.create(binding, { compileFunction: { value: compileFunction } }) as Binding
