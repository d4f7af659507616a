/** A program sets what the native libraries read before it loads them. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'
import { deviceDefaults } from '../../../../models/tensorflow/device-defaults.ts'

const PROGRAM = `
  const { tensorFloat32 } = await import('./models/tensorflow/tensor.ts')
  console.log(tensorFloat32.get())
  console.log((await import('node:child_process')).execFileSync('env').toString())`

const seenBy = (program: string, env: NodeJS.ProcessEnv) =>
  execFileSync(process.execPath, ['--import', 'tsx', '-e', program], {
    env: { PATH: process.env.PATH, ...env },
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  })

test('TensorFlow is loaded with the defaults: its switch for TF32, and the environment of all', () => {
  const seen = seenBy(PROGRAM, { TF_CUDNN_USE_AUTOTUNE: '1' })
  assert.match(seen, /^false\n/)
  assert.match(seen, /^CUDA_DEVICE_ORDER=PCI_BUS_ID$/m)
  assert.match(seen, /^NVIDIA_TF32_OVERRIDE=0$/m)
  assert.match(seen, /^TF_CUDNN_USE_AUTOTUNE=1$/m)
  assert.match(seenBy(PROGRAM, { PRECISION: 'bfloat16' }), /^true\n/)
})

test('XLA knows the flags it gets; an unknown one ends the process', () => {
  const program =
    "const { tf } = await import('./models/tensorflow/tensor.ts');" +
    "const { compiled, compiler } = await import('./models/graph/compiled.ts');" +
    'const half = compiled((x) => x.mul(0.5));' +
    'for (let i = 0; i < 3; i += 1) half(tf.scalar(3)); await compiler.compiling;' +
    'console.log(half(tf.scalar(3)).dataSync()[0])'
  const flags = deviceDefaults({ XLA: 'on', WINNOW_CACHE_DIR: '/tmp/a folder' }, '/tmp')
  assert.equal(seenBy(program, { ...flags, XLA: 'on' }), '1.5\n')
  const wrong = { ...flags, XLA: 'on', XLA_FLAGS: `${flags.XLA_FLAGS} --xla_gpu_unheard_of=1` }
  assert.throws(() => seenBy(program, wrong), /Command failed/)
})
