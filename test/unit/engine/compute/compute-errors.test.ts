/** Failures are recognised by the words of tfjs-node and TensorFlow. */

import assert from 'node:assert/strict'
import test from 'node:test'
import { computeErrorOf } from '../../../../engine/compute/compute-errors.ts'
import { native } from '../../../../models/tensor.ts'

const nameOf = (message: string) => computeErrorOf(message).name

/** The error of a call. */
function messageOf(call: () => unknown): string {
  try {
    call()
  } catch (error) {
    return (error as Error).message
  }
  throw new Error('it did not fail')
}

const MESSAGES: Record<string, readonly string[]> = {
  DeviceMemoryError: [
    'Invalid TF_Status: 8\nMessage: OOM when allocating tensor with shape[9,9] and type float on ' +
      '/job:localhost/replica:0/task:0/device:CPU:0 by allocator mklcpu',
    'Invalid TF_Status: 13\nMessage: Failed to allocate request for 2.00GiB',
    'Invalid TF_Status: 13\nMessage: CUDA_ERROR_OUT_OF_MEMORY: out of memory',
    'Array buffer allocation failed',
  ],
  DeviceError: [
    'Invalid TF_Status: 13\nMessage: Blas GEMM launch failed : a.shape=(1,2), b.shape=(2,3)',
    'Invalid TF_Status: 14\nMessage: the device is gone',
    'Invalid TF_Status: 2\nMessage: CUDNN_STATUS_EXECUTION_FAILED',
    'Invalid TF_Status: 9\nMessage: DNN library initialization failed.',
    'Invalid TF_Status: 2\nMessage: CUDA_ERROR_ILLEGAL_ADDRESS: an illegal memory access was encountered',
  ],
  NativeError: [
    'Invalid TF_Status: 3\nMessage: Matrix size-incompatible: In[0]: [2,2], In[1]: [3,3]',
  ],
  ModelError: ['A chunk has at least one sample', 'A chunk has 1 to 8 channels, not 9'],
}

for (const [name, messages] of Object.entries(MESSAGES)) {
  for (const message of messages) {
    test(`${name}: ${message.split('\n').at(-1)}`, () => assert.equal(nameOf(message), name))
  }
}

test('what the native library and Node say here is understood', () => {
  const { binding } = native
  const type = { name: 'T', type: binding.TF_ATTR_TYPE, value: binding.TF_FLOAT }
  const square = (size: number) =>
    binding.createTensor([size, size], binding.TF_FLOAT, new Float32Array(size ** 2))
  assert.equal(
    nameOf(messageOf(() => binding.executeOp('MatMul', [type], [square(2), square(3)], 1))),
    'NativeError',
  )
  assert.equal(nameOf(messageOf(() => new ArrayBuffer(2 ** 52))), 'DeviceMemoryError')
  assert.equal(nameOf(messageOf(() => new Float32Array(2 ** 52))), 'DeviceMemoryError')
})
