/**
 * Checks that every operation of the models has a GPU kernel for its types, and that no kernel fetches
 * numbers to the host, by the list that libtensorflow's GPU build gave (`npm run winnow -- gpu-kernels`).
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { backendVersion } from '../../models/tensorflow/tensor.ts'
import { profiledOperations, type UsedOperation } from '../support/models/profiled-operations.ts'

interface Kernel {
  types: Record<string, number[]>
  /** Inputs and outputs that the kernel keeps in host memory. */
  host: string[]
}

const listed = JSON.parse(readFileSync('models/tensorflow/gpu-kernels.json', 'utf8')) as {
  tensorflow: string
  operations: Record<string, Kernel[]>
}

/** The GPU's counterparts of processor-only operations: see `softmax` in models/tensorflow/tensor.ts. */
const ON_GPU: Record<string, string> = { _MklSoftmax: 'Softmax' }

/** Inputs such as shapes and axes, which are integers on the host anyway. */
const WHOLE_NUMBERS = [
  'axis',
  'begin',
  'dim',
  'dimension',
  'fft_length',
  'multiples',
  'paddings',
  'perm',
  'reduction_indices',
  'shape',
  'shift',
  'size',
  'size_splits',
  'split_dim',
]
/** Run when a model is loaded or a graph is made, but not in a step: see device-traffic.test.ts. */
const OUTSIDE_STEPS = ['Range', 'Identity']

const used = (await profiledOperations()).map(({ name, types }) => ({
  name: ON_GPU[name] ?? name,
  types,
}))

const kernelOf = ({ name, types }: UsedOperation): Kernel | undefined =>
  listed.operations[name]?.find((kernel) =>
    Object.entries(kernel.types).every(
      ([attribute, allowed]) =>
        types[attribute] === undefined || allowed.includes(types[attribute]),
    ),
  )

test('the list is for the TensorFlow version that runs here', () => {
  assert.equal(backendVersion(), `tensorflow ${listed.tensorflow}`)
})

test('every operation has a GPU kernel for its types, in every precision', () => {
  const without = used.filter((each) => kernelOf(each) === undefined)
  assert.deepEqual(
    without,
    [],
    'new ones: add them to models/tensorflow/gpu-kernels.json, `npm run winnow -- gpu-kernels`',
  )
  assert.ok(used.length >= 60, `${used.length} are used`)
  for (const name of ['BatchMatMulV2', 'Transpose', 'Slice'])
    // the half-precision products use it
    assert.ok(
      used.some((each) => each.name === name && each.types.T === 14),
      name,
    )
})

test('no kernel needs its numbers on the host', () => {
  const fetched = used
    .filter(({ name }) => !OUTSIDE_STEPS.includes(name))
    .flatMap((each) =>
      (kernelOf(each)?.host ?? [])
        .filter((input) => !WHOLE_NUMBERS.includes(input))
        .map((input) => `${each.name} ${JSON.stringify(each.types)}: ${input}`),
    )
  assert.deepEqual(fetched, [])
})
