/**
 * Preloaded by xla.test.ts: graphs are those of a GPU, and XLA compiles each while its first call
 * waits, so that tests see what it has made. A graph that it refuses fails the test.
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
