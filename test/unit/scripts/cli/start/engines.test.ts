/** `npm start` runs an engine for each GPU; no two share what only one can have. */
import assert from 'node:assert/strict'
import { availableParallelism } from 'node:os'
import { test } from 'node:test'
import { enginesFor, gpusOf } from '../../../../../scripts/cli/start/engines.ts'
import { buildFakeNvml } from '../../../../support/machine/fake-nvml.ts'

const options = {
  gpus: [],
  env: { NATS_URL: 'nats://x', UV_THREADPOOL_SIZE: '5' },
  scratchFolder: '/s',
  metricsPorts: [9_081, 9_083, 9_084], // the port in use, 9_082, is left out
} as const

test('without a GPU, or with one, there is one engine', () => {
  const env = { ...options.env, SCRATCH_DIR: '/s', METRICS_PORT: '9081' }
  assert.deepEqual(enginesFor(options), [{ name: 'engine', env }])
  const [only, ...others] = enginesFor({ ...options, gpus: ['GPU-a'] })
  assert.equal(only?.env.CUDA_VISIBLE_DEVICES, 'GPU-a')
  assert.deepEqual(others, [])
})

test('with several each has a GPU, a name, ports and a folder of its own', () => {
  const env = { ENGINE_ID: 'studio', CONTROL_PORT: '7000', CUDA_VISIBLE_DEVICES: '1,0,2' }
  const engines = enginesFor({ ...options, env, gpus: ['GPU-b', 'GPU-a', 'GPU-c'] })
  assert.deepEqual(
    engines.map((engine) => engine.name),
    ['engine', 'engine-2', 'engine-3'],
  )
  const all = (name: string) => engines.map((engine) => engine.env[name])
  assert.deepEqual(all('CUDA_VISIBLE_DEVICES'), ['GPU-b', 'GPU-a', 'GPU-c'])
  assert.deepEqual(all('ENGINE_ID'), ['studio', 'studio-2', 'studio-3'])
  assert.deepEqual(all('CONTROL_PORT'), ['7000', '7001', '7002'])
  assert.deepEqual(all('METRICS_PORT'), ['9081', '9083', '9084'])
  assert.equal(new Set(all('SCRATCH_DIR')).size, 3)
})

test('an engine has one thread for files per core, and at least four', () => {
  const [engine] = enginesFor({ ...options, env: {} })
  assert.equal(engine?.env.UV_THREADPOOL_SIZE, String(Math.max(4, availableParallelism())))
})

test('any free port stays any free port, and off stays off', () => {
  const gpus = ['GPU-a', 'GPU-b']
  const any = { env: { CONTROL_PORT: '0' }, metricsPorts: [0, 0] }
  const [, free] = enginesFor({ ...options, gpus, ...any })
  assert.deepEqual([free?.env.CONTROL_PORT, free?.env.METRICS_PORT], ['0', '0'])
  const [, off] = enginesFor({ ...options, gpus, metricsPorts: ['off', 'off'] })
  assert.equal(off?.env.METRICS_PORT, 'off')
  assert.ok(!('ENGINE_ID' in off!.env)) // it makes up its own
})

test('the GPUs are those that the driver shows and CUDA_VISIBLE_DEVICES allows', async (t) => {
  const { path } = await buildFakeNvml(t)
  const [first, second] = ['GPU-aaaa1111-0000', 'GPU-bbbb2222-0000']
  assert.deepEqual(await gpusOf({}, path), [first, second])
  assert.deepEqual(await gpusOf({ CUDA_VISIBLE_DEVICES: '1,0' }, path), [second, first])
  assert.deepEqual(await gpusOf({ CUDA_VISIBLE_DEVICES: '' }, path), [])
  assert.deepEqual(await gpusOf({}, '/no/such/library'), [])
})
