/** Errors of the compute thread's calls; their messages name the cause. */

/** The thread ended with this lane open; the lane is not at fault and can be opened again. */
export class ComputeLostError extends Error {
  override name = 'ComputeLostError'
}

/** The model refused its input, or failed on it. */
export class ModelError extends Error {
  override name = 'ModelError'
}

/** The device could not compute, whatever the input: the lane can be opened again. */
export class DeviceError extends Error {
  override name = 'DeviceError'
}

/** The device had no memory left for so much at once. */
export class DeviceMemoryError extends DeviceError {
  override name = 'DeviceMemoryError'
}

/**
 * The device had no memory for one lane alone, and it is larger than any batch that was computed.
 */
export class LaneTooLargeError extends Error {
  override name = 'LaneTooLargeError'
}

/** TensorFlow failed for a reason that may lie in the lane or in the device. */
export class NativeError extends Error {
  override name = 'NativeError'
}

/** The message that tfjs-node's binding makes of a TensorFlow status, with its canonical code. */
const STATUS = /^Invalid TF_Status: (\d+)/
/** ABORTED, INTERNAL, UNAVAILABLE and DATA_LOSS. */
const DEVICE_CODES: readonly number[] = [10, 13, 14, 15]
const RESOURCE_EXHAUSTED = 8

/** The code of a failed allocation or device depends on the kernel, so the text counts more. */
const MEMORY = anyOf(
  /\bOOM\b|out of memory|OUT_OF_MEMORY|failed to allocate|RESOURCE_EXHAUSTED/,
  /ALLOC(ATION)?_FAILED|cudaErrorMemoryAllocation|Exceeded memory limit/,
  /Dst tensor is not initialized/, // an upload found no memory
  /Failed to create cuFFT batched plan/, // its work area found none
)
const DEVICE = anyOf(
  /\bCU(DA|DNN|BLAS|FFT|SOLVER)(_|\b)|\bcuda[A-Z]|\bDNN lib|\bBlas |StreamExecutor/,
  /launch (failed|failure)|\bfft failed|Memcpy failed|GPU sync failed|No algorithm worked/,
)
/** Node's messages when the process has no memory left for an array. */
const ARRAY = /^(Array buffer allocation failed|Invalid typed array length)/

function anyOf(...patterns: readonly RegExp[]): RegExp {
  return new RegExp(patterns.map(({ source }) => source).join('|'), 'i')
}

/** The error of a call that failed in the compute thread with this message. */
export function computeErrorOf(message: string): Error {
  if (ARRAY.test(message)) return new DeviceMemoryError(message)
  const [, code] = STATUS.exec(message) ?? []
  if (code === undefined) return new ModelError(message)
  if (Number(code) === RESOURCE_EXHAUSTED || MEMORY.test(message)) {
    return new DeviceMemoryError(message)
  }
  const isDevice = DEVICE_CODES.includes(Number(code)) || DEVICE.test(message)
  return isDevice ? new DeviceError(message) : new NativeError(message)
}
