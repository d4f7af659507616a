/** A program sets what the native libraries read before they are loaded. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'

const PROGRAM = `
  const { tensorFloat32 } = await import('./models/tensorflow/tensor.ts')
  console.log(tensorFloat32.get())
  console.log((await import('node:child_process')).execFileSync('env').toString())`

const seenWith = (env: NodeJS.ProcessEnv) =>
  execFileSync(process.execPath, ['--import', 'tsx', '-e', PROGRAM], {
    env: { PATH: process.env.PATH, ...env },
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  })

test('TensorFlow is loaded with them: its switch for TF32, and the environment of all', () => {
  const seen = seenWith({ TF_CUDNN_USE_AUTOTUNE: '1' })
  assert.match(seen, /^false\n/)
  assert.match(seen, /^CUDA_DEVICE_ORDER=PCI_BUS_ID$/m)
  assert.match(seen, /^NVIDIA_TF32_OVERRIDE=0$/m)
  assert.match(seen, /^TF_CUDNN_USE_AUTOTUNE=1$/m)
  assert.match(seenWith({ PRECISION: 'bfloat16' }), /^true\n/)
  assert.match(seenWith({ NVIDIA_TF32_OVERRIDE: '1' }), /^true\n/)
})
