/** Errors of calls to a compute; their messages name the cause. */

/** The compute ended while this lane was open. The lane is not to blame and can be opened again. */
export class ComputeLostError extends Error {
  override name = 'ComputeLostError'
}

/** The model rejected its input, or failed on it. */
export class ModelError extends Error {
  override name = 'ModelError'
}

/** The device failed regardless of the input; the lane can be opened again. */
export class DeviceError extends Error {
  override name = 'DeviceError'
}

/** The device had too little memory for everything at once. */
export class DeviceMemoryError extends DeviceError {
  override name = 'DeviceMemoryError'
}

/**
 * The device had too little memory for a single lane that is larger than any batch computed so far.
 */
export class LaneTooLargeError extends Error {
  override name = 'LaneTooLargeError'
}

/** TensorFlow failed, and either the lane or the device may be the cause. */
export class NativeError extends Error {
  override name = 'NativeError'
}

/** The format of a TensorFlow status in messages of tfjs-node, with its canonical code. */
const STATUS = /^Invalid TF_Status: (\d+)/
/** ABORTED, INTERNAL, UNAVAILABLE and DATA_LOSS. */
const DEVICE_CODES: readonly number[] = [10, 13, 14, 15]
const RESOURCE_EXHAUSTED = 8

/** The status code for a failed allocation depends on the kernel, so the text is checked first. */
const MEMORY = anyOf(
  /\bOOM\b|out of memory|OUT_OF_MEMORY|failed to allocate|RESOURCE_EXHAUSTED/,
  /ALLOC(ATION)?_FAILED|cudaErrorMemoryAllocation|Exceeded memory limit/,
  /Dst tensor is not initialized/, // an upload that found no memory
  /Failed to create cuFFT batched plan/, // no memory for its workspace
)
const DEVICE = anyOf(
  /\bCU(DA|DNN|BLAS|FFT|SOLVER)(_|\b)|\bcuda[A-Z]|\bDNN lib|\bBlas |StreamExecutor/,
  /launch (failed|failure)|\bfft failed|Memcpy failed|GPU sync failed|No algorithm worked/,
)
/** Node's messages if the process has no memory for an array. */
const ARRAY = /^(Array buffer allocation failed|Invalid typed array length)/

function anyOf(...patterns: readonly RegExp[]): RegExp {
  return new RegExp(patterns.map(({ source }) => source).join('|'), 'i')
}

/** Returns the error for a call that failed in the compute with this message. */
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
