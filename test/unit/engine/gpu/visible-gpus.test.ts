import assert from 'node:assert/strict'
import test from 'node:test'
import { visibleGpus } from '../../../../engine/gpu/visible-gpus.ts'

const UUIDS = ['GPU-aaaa1111', 'GPU-bbbb2222', 'GPU-cccc3333']

test('an engine shows the GPUs that CUDA gives it', () => {
  for (const [visible, expected] of [
    [undefined, UUIDS],
    ['', []],
    ['-1', []],
    ['1', ['GPU-bbbb2222']],
    ['2, 0', ['GPU-cccc3333', 'GPU-aaaa1111']],
    ['GPU-bbbb', ['GPU-bbbb2222']],
    ['GPU-dddd,0', []],
    ['0,7,1', ['GPU-aaaa1111']],
    ['MIG-aaaa1111', []],
  ] as const)
    assert.deepEqual(visibleGpus(UUIDS, visible), expected, `CUDA_VISIBLE_DEVICES=${visible}`)
})
