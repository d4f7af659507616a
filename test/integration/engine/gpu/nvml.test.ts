/** The binding of NVIDIA's library, tested with a fake library for a driver with two GPUs. */

import assert from 'node:assert/strict'
import { once } from 'node:events'
import test from 'node:test'
import { Worker } from 'node:worker_threads'
import { freeFor, openOwnGpu } from '../../../../engine/gpu/own-gpu.ts'
import { openNvml, type GpuReading } from '../../../../engine/gpu/nvml.ts'
import { threadProgram } from '../../../../shared/process/programs.ts'
import { buildFakeNvml } from '../../../support/machine/fake-nvml.ts'

const GIBIBYTE = 2 ** 30

test('GPUs report what they support, and each Xid once', async (t) => {
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

test('an engine plans for what the driver says is free, in its thread too', async (t) => {
  const { path } = await buildFakeNvml(t)
  const describeGpu = async (gpu: string) => {
    const { freeBytes, ...rest } = await openOwnGpu(gpu, () => openNvml(path))
    return { free: await freeBytes(), ...rest }
  }
  assert.deepEqual(await describeGpu('1'), { free: 49 * GIBIBYTE, hasBfloat16: false, warning: '' })
  assert.deepEqual(await describeGpu('GPU-aaaa'), {
    free: 50 * GIBIBYTE,
    hasBfloat16: true,
    warning: '',
  })
  const slice = await describeGpu('MIG-cccc3333-0000')
  assert.deepEqual([slice.free, slice.hasBfloat16], [undefined, true])
  assert.match(slice.warning, /the driver does not say .* GPU MIG-cccc3333-0000/)

  const program = new URL('../../../support/machine/nvml-worker.ts', import.meta.url)
  const worker = new Worker(threadProgram(program), { eval: true, workerData: path })
  const [reading] = (await once(worker, 'message')) as [GpuReading]
  assert.equal(reading.memoryUsedBytes, 30 * GIBIBYTE)
})

test('memory that other processes use is not free, but what the allocator once took still is', () => {
  const allocated = { limit: 80, inUse: 5, peak: 15 }
  assert.equal(freeFor(allocated), 75)
  assert.equal(freeFor(allocated, 20), 30)
  assert.equal(freeFor(allocated, 79), 75)
})
