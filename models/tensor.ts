/** TensorFlow: the only place that loads it, and the proof that the native library works. */
import { createRequire } from 'node:module'
import type * as TensorFlow from '@tensorflow/tfjs-node-gpu'

export type {
  Rank, Tensor, Tensor1D, Tensor2D, Tensor3D, Tensor4D,
} from '@tensorflow/tfjs-node-gpu'

/** What this project uses of the native backend, whose types the package does not export. */
interface NativeBackend {
  readonly isUsingGpuDevice: boolean
  readonly binding: {
    readonly TF_Version: string
    readonly TF_ATTR_TYPE: number
    readonly TF_FLOAT: number
    readonly TF_INT32: number
    readonly TF_COMPLEX64: number
    readonly TF_ATTR_BOOL: number
  }
  executeSingleOutput(
    name: string, attributes: readonly Attribute[], inputs: readonly TensorFlow.Tensor[],
  ): TensorFlow.Tensor
}

interface Attribute {
  name: string
  type: number
  value: number | boolean
}

export const tf = loadTensorFlow()

const native = tf.backend() as unknown as NativeBackend
const { binding } = native

/** The native library at work, such as `tensorflow 2.21.0`. */
export const backendVersion = (): string => `tensorflow ${binding.TF_Version}`

export const deviceKind = (): 'cpu' | 'gpu' => (native.isUsingGpuDevice ? 'gpu' : 'cpu')

/** Fourier transform of real rows: [..., length] to complex [..., length / 2 + 1]. */
export function rfft(rows: TensorFlow.Tensor, length: number): TensorFlow.Tensor {
  return fourier('RFFT', rows, length)
}

/** Inverse of `rfft`: complex [..., length / 2 + 1] to [..., length]. */
export function irfft(spectra: TensorFlow.Tensor, length: number): TensorFlow.Tensor {
  return fourier('IRFFT', spectra, length)
}

/** Euclidean length of the last axis, which stays with size 1: [..., dim] to [..., 1]. */
export function lastAxisNorm(x: TensorFlow.Tensor): TensorFlow.Tensor {
  const attributes = [
    typeAttribute('T', binding.TF_FLOAT),
    typeAttribute('Tidx', binding.TF_INT32),
    { name: 'keep_dims', type: binding.TF_ATTR_BOOL, value: true },
  ]
  return tf.tidy(() =>
    native.executeSingleOutput('EuclideanNorm', attributes, [x, tf.scalar(-1, 'int32')]))
}

/**
 * Product on the last axis: x [..., inDim] and matrix [inDim, outDim] to [..., outDim]. tfjs's own
 * product wants as many axes on both sides, and reshapes there and back.
 */
export function multiply(x: TensorFlow.Tensor, matrix: TensorFlow.Tensor): TensorFlow.Tensor {
  const attributes = [
    typeAttribute('T', binding.TF_FLOAT),
    { name: 'adj_x', type: binding.TF_ATTR_BOOL, value: false },
    { name: 'adj_y', type: binding.TF_ATTR_BOOL, value: false },
  ]
  return native.executeSingleOutput('BatchMatMulV2', attributes, [x, matrix])
}

/** Rolls the last axis forward by `places`: what leaves at its end comes back at its start. */
export function rollLastAxis(x: TensorFlow.Tensor, places: number): TensorFlow.Tensor {
  const attributes = [
    typeAttribute('T', binding.TF_FLOAT),
    typeAttribute('Tshift', binding.TF_INT32),
    typeAttribute('Taxis', binding.TF_INT32),
  ]
  return tf.tidy(() => native.executeSingleOutput('Roll', attributes,
    [x, tf.scalar(places, 'int32'), tf.scalar(x.rank - 1, 'int32')]))
}

/** tfjs's own real transforms go through a complex one of the whole length: five times slower. */
function fourier(name: 'RFFT' | 'IRFFT', x: TensorFlow.Tensor, length: number) {
  const attributes = [
    typeAttribute('Treal', binding.TF_FLOAT),
    typeAttribute('Tcomplex', binding.TF_COMPLEX64),
  ]
  return tf.tidy(() =>
    native.executeSingleOutput(name, attributes, [x, tf.tensor1d([length], 'int32')]))
}

function typeAttribute(name: string, value: number): Attribute {
  return { name, type: binding.TF_ATTR_TYPE, value }
}

function loadTensorFlow(): typeof TensorFlow {
  const require = createRequire(import.meta.url)
  // The package calls two functions that Node 22 warns about and Node 23 no longer has.
  Object.assign(require('node:util'), {
    isArray: Array.isArray,
    isNullOrUndefined: (value: unknown) => value === null || value === undefined,
  })
  process.env.TF_CPP_MIN_LOG_LEVEL ??= '2' // read by the native library as it loads
  let loaded: typeof TensorFlow
  try {
    loaded = require('@tensorflow/tfjs-node-gpu')
  } catch (cause) {
    const hint = 'run `node scripts/setup.mjs` to build it'
    throw new Error(`TensorFlow's native library could not be loaded: ${hint}`, { cause })
  }
  if (loaded.getBackend() !== 'tensorflow') {
    const found = `its backend is "${loaded.getBackend()}"`
    const hint = 'run `node scripts/setup.mjs` to build the native one'
    throw new Error(`TensorFlow.js would compute in JavaScript (${found}): ${hint}`)
  }
  return loaded
}
