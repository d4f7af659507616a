/** The binding of NVIDIA's library, against one that answers as a driver with two GPUs does. */

import assert from 'node:assert/strict'
import test from 'node:test'
import { openNvml } from '../../../../engine/operations/nvml.ts'
import { buildFakeNvml } from '../../../support/machine/fake-nvml.ts'

const GIBIBYTE = 2 ** 30

test('GPUs report what they support, and Xids come once', async (t) => {
  const { path } = await buildFakeNvml(t)
  const nvml = await openNvml(path)
  assert.ok(nvml)
  t.after(() => nvml.close())
  assert.deepEqual(await Promise.all(nvml.gpus.map((gpu) => gpu.read())), [
    {
      gpu: 'GPU-aaaa1111-0000',
      memoryUsedBytes: 30 * GIBIBYTE,
      memoryTotalBytes: 80 * GIBIBYTE,
      utilizationRatio: 0.87,
      powerWatts: 412.5,
      temperatureCelsius: 61,
    },
    {
      gpu: 'GPU-bbbb2222-0000',
      memoryUsedBytes: 31 * GIBIBYTE,
      memoryTotalBytes: 80 * GIBIBYTE,
      temperatureCelsius: 61,
    },
  ])
  assert.deepEqual(await nvml.takeXids(), [], 'nothing is watched yet')
  nvml.watchXids(['GPU-bbbb2222-0000'])
  assert.deepEqual(await nvml.takeXids(), [
    { gpu: 'GPU-bbbb2222-0000', xid: 13 },
    { gpu: 'GPU-bbbb2222-0000', xid: 79 },
  ])
  assert.deepEqual(await nvml.takeXids(), [])
})

test('without the library there are no GPUs, and no error', async () => {
  assert.equal(await openNvml('libnvidia-ml-that-is-nowhere.so.1'), null)
})
