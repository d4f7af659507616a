/** Settings of the native libraries. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deviceDefaults, oneGpu } from '../../../../models/tensorflow/device-defaults.ts'

test("an admin's settings have precedence, even empty ones", () => {
  const defaults = deviceDefaults({})
  assert.deepEqual(defaults, {
    TF_CPP_MIN_LOG_LEVEL: '2',
    CUDA_DEVICE_ORDER: 'PCI_BUS_ID',
    TF_FORCE_GPU_ALLOW_GROWTH: 'true',
    TF_CUDNN_USE_AUTOTUNE: '0',
    CUDA_CACHE_MAXSIZE: '4294967296',
    NVIDIA_TF32_OVERRIDE: '0',
  })
  for (const name of Object.keys(defaults)) {
    for (const value of ['1', '']) assert.ok(!(name in deviceDefaults({ [name]: value })), name)
  }
})

test('TF32 is off where float32 is promised, and left alone where bfloat16 is', () => {
  for (const PRECISION of [undefined, '', 'float32'])
    assert.equal(deviceDefaults({ PRECISION }).NVIDIA_TF32_OVERRIDE, '0')
  for (const PRECISION of ['bfloat16', 'auto'])
    assert.equal(deviceDefaults({ PRECISION }).NVIDIA_TF32_OVERRIDE, undefined)
})

test("with XLA on, it caches what it compiled for GPUs, and finds CUDA's compiler", () => {
  const flagsOf = (XLA?: string, nvcc = '/nowhere') => {
    const { TF_XLA_FLAGS, XLA_FLAGS } = deviceDefaults({ XLA, WINNOW_CACHE_DIR: '/cache' }, nvcc)
    return [TF_XLA_FLAGS, XLA_FLAGS]
  }
  const [ofTensorFlow, own] = flagsOf('on')
  assert.match(ofTensorFlow!, /_cache_directory="\/cache\/xla" .*_device_types=XLA_GPU_JIT$/)
  assert.match(own!, /^--xla_gpu_enable_command_buffer=FUSION,/)
  assert.match(flagsOf('on', '/tmp')[1]!, /^--xla_gpu_cuda_data_dir="\/tmp" --xla_gpu_enable_com/)
  for (const off of [undefined, '', 'auto', 'off'])
    assert.deepEqual(flagsOf(off), [undefined, undefined])
})

test('an engine uses the first GPU that it may use, or none', () => {
  const own = (visible?: string) => oneGpu({ CUDA_VISIBLE_DEVICES: visible }).CUDA_VISIBLE_DEVICES
  assert.equal(own(undefined), '0')
  assert.equal(own('2,0'), '2')
  assert.equal(own(' GPU-5e2c , GPU-77'), 'GPU-5e2c')
  assert.equal(own(''), '')
  assert.equal(own('-1'), '-1')
})
