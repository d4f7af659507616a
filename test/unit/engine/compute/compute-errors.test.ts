/** Failures are recognized by the messages of tfjs-node and TensorFlow. */

import assert from 'node:assert/strict'
import test from 'node:test'
import { computeErrorOf } from '../../../../engine/compute/compute-errors.ts'
import { native } from '../../../../models/tensorflow/tensor.ts'

const nameOf = (message: string) => computeErrorOf(message).name

/** Returns the error message of a failing call. */
function messageOf(call: () => unknown): string {
  try {
    call()
  } catch (error) {
    return (error as Error).message
  }
  throw new Error('it did not fail')
}

/** Messages of TensorFlow 2.21, including those for CUDA, which are in its library. */
const MESSAGES: Record<string, readonly string[]> = {
  DeviceMemoryError: [
    'Invalid TF_Status: 8\nMessage: OOM when allocating tensor with shape[9,9] and type float on ' +
      '/job:localhost/replica:0/task:0/device:CPU:0 by allocator mklcpu',
    'Invalid TF_Status: 13\nMessage: Failed to allocate request for 2.00GiB',
    'Invalid TF_Status: 13\nMessage: CUDA_ERROR_OUT_OF_MEMORY: out of memory',
    'Array buffer allocation failed',
    'Invalid TF_Status: 8\nMessage: Failed to allocate request for 2.00GiB (2147483648B) on device ' +
      'ordinal 0',
    'Invalid TF_Status: 8\nMessage: Exceeded memory limit (failed to allocate 1.00GiB)',
    'Invalid TF_Status: 13\nMessage: Failed copying input tensor from /job:localhost/replica:0/' +
      'task:0/device:CPU:0 to /job:localhost/replica:0/task:0/device:GPU:0 in order to run MatMul: ' +
      'Dst tensor is not initialized.',
    'Invalid TF_Status: 13\nMessage: Failed to create cuFFT batched plan with scratch allocator',
    'Invalid TF_Status: 13\nMessage: CUFFT_ALLOC_FAILED',
    'Invalid TF_Status: 13\nMessage: the library is not ready: CUBLAS_STATUS_ALLOC_FAILED',
    'Invalid TF_Status: 2\nMessage: CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED',
    'Invalid TF_Status: 12\nMessage: CUDNN failed to allocate the scratch space for the runner or to ' +
      'find a working no-scratch runner.',
  ],
  DeviceError: [
    'Invalid TF_Status: 13\nMessage: Blas GEMM launch failed : a.shape=(1,2), b.shape=(2,3)',
    'Invalid TF_Status: 14\nMessage: the device is gone',
    'Invalid TF_Status: 2\nMessage: CUDNN_STATUS_EXECUTION_FAILED',
    'Invalid TF_Status: 9\nMessage: DNN library initialization failed.',
    'Invalid TF_Status: 13\nMessage: Attempting to perform BLAS operation using StreamExecutor ' +
      'without BLAS support',
    'Invalid TF_Status: 2\nMessage: CUBLAS_STATUS_NOT_INITIALIZED',
    'Invalid TF_Status: 2\nMessage: CUFFT_INTERNAL_ERROR',
    'Invalid TF_Status: 3\nMessage: fft failed : type=1 in.shape=[8,2048]',
    'Invalid TF_Status: 2\nMessage: cuDNN launch failure : input shape ([1,2,3])',
    'Invalid TF_Status: 5\nMessage: No algorithm worked!  Error messages:',
    'Invalid TF_Status: 9\nMessage: GPU sync failed',
    'Invalid TF_Status: 9\nMessage: stream->Memcpy failed: failed to enqueue async memcpy',
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

test('the messages of the native library and Node on this machine are recognized', () => {
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
