/**
 * Checks that the models' operations run on the device, by the list of GPU kernels and by running
 * them.
 */
import { readFileSync } from 'node:fs'
import { backendVersion, deviceKind, deviceWarnings } from '../../../models/tensorflow/tensor.ts'
import { profiledOperations } from '../../../test/support/models/profiled-operations.ts'
import type { Run } from '../options.ts'

interface Kernel {
  types: Record<string, number[]>
}

export const kernelsPart: Run = async function* () {
  const list = JSON.parse(
    readFileSync(new URL('../../../models/tensorflow/gpu-kernels.json', import.meta.url), 'utf8'),
  ) as { operations: Record<string, Kernel[]> }
  const startedAt = performance.now()
  const used = (await profiledOperations()).map(({ name, types }) => {
    return { name: name === '_MklSoftmax' ? 'Softmax' : name, types } // see tensorflow/tensor.ts
  })
  const without = used.filter(({ name, types }) =>
    (list.operations[name] ?? []).every(({ types: allowed }) =>
      Object.entries(allowed).some(
        ([attribute, some]) => types[attribute] !== undefined && !some.includes(types[attribute]),
      ),
    ),
  )
  yield {
    backend: backendVersion(),
    device: deviceKind(),
    'pairs of operation and type': used.length,
    'without a GPU kernel': without.map(({ name }) => name).join(' ') || 'none',
    'seconds of the first run of all': (performance.now() - startedAt) / 1_000,
  }
  yield* deviceWarnings()
}
