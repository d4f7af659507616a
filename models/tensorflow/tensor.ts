/**
 * The only place that loads TensorFlow; it fails right away if the native library does not work.
 */
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import type * as TensorFlow from '@tensorflow/tfjs-node-gpu'
import type { Attribute, Binding, NativeTensor } from './binding.ts'
import { withConstants } from './constants.ts'
import { deviceDefaults } from './device-defaults.ts'
import { hasInstructions } from './cpu.ts'
import { tensorFloat32In } from './tensor-float-32.ts'

export type {
  Rank,
  Tensor,
  Tensor1D,
  Tensor2D,
  Tensor3D,
  Tensor4D,
} from '@tensorflow/tfjs-node-gpu'

interface NativeBackend {
  readonly isUsingGpuDevice: boolean
  binding: Binding
  readonly tensorMap: {
    get(dataId: object): NativeTensor
    set(dataId: object, stored: NativeTensor & { values: null; refCount: number }): void
  }
  getInputTensorIds(inputs: readonly TensorFlow.Tensor[]): number[]
}

const PACKAGE_FOLDER = dirname(
  createRequire(import.meta.url).resolve('@tensorflow/tfjs-node-gpu/package.json'),
)
const FRAMEWORK = 'deps/lib/libtensorflow_framework.so.2'
/** NVIDIA's libraries from set-up, in the GPU build only. */
const CUDA_LIBRARIES = join(PACKAGE_FOLDER, 'deps/nvidia')

export const tf = loadTensorFlow()

/**
 * The native backend. While a graph is recorded, its `binding` is the recorder's
 * (graph/recorder.ts).
 */
export const native = tf.backend() as unknown as NativeBackend
const { binding } = native
/** TF32, in TensorFlow and in NVIDIA's libraries; see device-defaults.ts. */
export const tensorFloat32 = tensorFloat32In(join(PACKAGE_FOLDER, FRAMEWORK))
tensorFloat32.set(process.env.NVIDIA_TF32_OVERRIDE !== '0')
native.binding = withConstants(binding)

/** TensorFlow's number of the type, for which the binding has no name. */
const BFLOAT16 = 14

/** The version of the native library, such as `tensorflow 2.21.0`. */
export const backendVersion = (): string => `tensorflow ${binding.TF_Version}`

export const deviceKind = (): 'cpu' | 'gpu' => (native.isUsingGpuDevice ? 'gpu' : 'cpu')

/** Warnings for admins about the device; for example, the GPU build also runs without a GPU. */
export const deviceWarnings = (): string[] => warningsFor(deviceKind(), existsSync(CUDA_LIBRARIES))

/** @param hasCuda whether the native library is the GPU build */
export const warningsFor = (device: 'cpu' | 'gpu', hasCuda: boolean): string[] =>
  device === 'cpu' && hasCuda
    ? [
        'set up for a GPU (cuda), but the native library found none and computes on the ' +
          'CPU, many times slower: check the driver (nvidia-smi); the command doctor says ' +
          'what is missing',
      ]
    : []

/** Fourier transform of real rows: [..., length] to complex [..., length / 2 + 1]. */
export function rfft(rows: TensorFlow.Tensor, length: number): TensorFlow.Tensor {
  return fourier('RFFT', rows, length)
}

/** The inverse of `rfft`: complex [..., length / 2 + 1] to [..., length]. */
export function irfft(spectra: TensorFlow.Tensor, length: number): TensorFlow.Tensor {
  return fourier('IRFFT', spectra, length)
}

/** Euclidean norm over the last axis, which is kept with size 1: [..., dim] to [..., 1]. */
export function lastAxisNorm(x: TensorFlow.Tensor): TensorFlow.Tensor {
  const attributes = [typeOf(x), typeAttribute('Tidx', binding.TF_INT32), flag('keep_dims', true)]
  return execute('EuclideanNorm', attributes, [x], [[-1]])
}

/**
 * Matrix product on the last axis: x [..., inDim] times matrix [inDim, outDim] gives [..., outDim].
 * tfjs's own product needs the same number of axes on both sides, and so two reshapes.
 */
export function multiply(x: TensorFlow.Tensor, matrix: TensorFlow.Tensor): TensorFlow.Tensor {
  return execute(
    'BatchMatMulV2',
    [typeOf(x), flag('adj_x', false), flag('adj_y', false)],
    [x, matrix],
  )
}

/** Like `multiply`, but with each matrix in y [..., outDim, inDim] transposed. */
export function matmulTransposed(x: TensorFlow.Tensor, y: TensorFlow.Tensor): TensorFlow.Tensor {
  return execute('BatchMatMulV2', [typeOf(x), flag('adj_x', false), flag('adj_y', true)], [x, y])
}

/**
 * Softmax over the last axis. oneDNN's takes a third of the time where it exists; for bfloat16 it
 * needs a CPU with AVX-512.
 */
export function softmax(x: TensorFlow.Tensor): TensorFlow.Tensor {
  const isOneDnn = !native.isUsingGpuDevice && process.arch === 'x64'
  if (!isOneDnn || (isBfloat16(x) && !hasInstructions(/\bavx512bw\b/))) {
    return execute('Softmax', [typeOf(x)], [x])
  }
  const kernel = { name: '_kernel', type: binding.TF_ATTR_STRING, value: 'MklNameChangeOp' }
  return execute('_MklSoftmax', [typeOf(x), kernel], [x])
}

/**
 * Computes y · sigmoid(x) in one pass, with the operation that TensorFlow calls the gradient of
 * softplus.
 */
export function gateWithSigmoid(y: TensorFlow.Tensor, x: TensorFlow.Tensor): TensorFlow.Tensor {
  return execute('SoftplusGrad', [typeOf(x)], [y, x])
}

/** Whether `lstm` can be called; our binding has it for CPUs with AVX2. */
export const hasLstm = (): boolean =>
  !native.isUsingGpuDevice && hasInstructions(/\bavx2\b/) && hasInstructions(/\bfma\b/)

/** How many units of an LSTM are stored together in its weights. */
export const LSTM_TILE = 16

/**
 * A bidirectional LSTM over all steps (scripts/setup/binding/lstm.h): x [steps, rows, dim] to
 * [steps, rows, 2 · hidden], forward and then backward. Rows do not influence each other.
 * @param weights [2, tiles, dim + hidden, 4, LSTM_TILE]: input, forget, cell and output gates; the
 *   hidden units are in tiles, padded with zeros
 * @param bias [2, tiles, 4, LSTM_TILE]
 */
export function lstm(
  x: TensorFlow.Tensor,
  weights: TensorFlow.Tensor,
  bias: TensorFlow.Tensor,
): TensorFlow.Tensor {
  return execute('WinnowLstm', [], [x, weights, bias])
}

/** Like tf.reshape, for tensors of any type. */
export function reshape(x: TensorFlow.Tensor, shape: readonly number[]): TensorFlow.Tensor {
  return execute('Reshape', [typeOf(x), typeAttribute('Tshape', binding.TF_INT32)], [x], [shape])
}

/** Like tf.transpose, for tensors of any type. */
export function transpose(x: TensorFlow.Tensor, axes: readonly number[]): TensorFlow.Tensor {
  return execute('Transpose', [typeOf(x), typeAttribute('Tperm', binding.TF_INT32)], [x], [axes])
}

/**
 * Returns `count` rows from `start` along the first axis, for tensors of any type, without a copy.
 */
export function sliceRows(x: TensorFlow.Tensor, start: number, count: number): TensorFlow.Tensor {
  const whole = x.shape.slice(1)
  return execute(
    'Slice',
    [typeOf(x), typeAttribute('Index', binding.TF_INT32)],
    [x],
    [
      [start, ...whole.map(() => 0)],
      [count, ...whole],
    ],
  )
}

/** Stacks tensors of one shape and any type along a new first axis. */
export function stackRows(rows: readonly TensorFlow.Tensor[]): TensorFlow.Tensor {
  return execute('Pack', [typeOf(rows[0]!), count('N', rows.length), count('axis', 0)], rows)
}

/** Splits x along its first axis, for tensors of any type, without a copy. */
export function unstackRows(x: TensorFlow.Tensor): TensorFlow.Tensor[] {
  return tf.tidy(() =>
    Array.from({ length: x.shape[0] }, (_, i) => reshape(sliceRows(x, i, 1), x.shape.slice(1))),
  )
}

/** How many zeros come before and after an axis. */
type Padding = readonly [before: number, after: number]

/**
 * Like tf.pad with zeros, but without reading the padding value from the device.
 * @param paddings by axis; axes that are not named get no padding
 */
export function pad(
  x: TensorFlow.Tensor,
  paddings: Readonly<Record<number, Padding>>,
): TensorFlow.Tensor {
  const all = x.shape.map((_, axis): Padding => paddings[axis] ?? [0, 0])
  return execute('Pad', [typeOf(x), typeAttribute('Tpaddings', binding.TF_INT32)], [x], [all])
}

/** Padding for tf.conv2d on [batch, height, width, channels]. */
export const explicitPadding = (
  height: Padding,
  width: Padding,
): Parameters<typeof TensorFlow.conv2d>[3] => [[0, 0], [...height], [...width], [0, 0]]

/**
 * Like tf.gather on the first axis, but without reading the indices from the device to check them.
 * @param rows int32, each a valid index of the first axis of x
 */
export function gatherRows(x: TensorFlow.Tensor, rows: TensorFlow.Tensor): TensorFlow.Tensor {
  const attributes = [
    typeAttribute('Tparams', storedOf(x).dtype),
    typeAttribute('Tindices', binding.TF_INT32),
    typeAttribute('Taxis', binding.TF_INT32),
    count('batch_dims', 0),
  ]
  return execute('GatherV2', attributes, [x, rows], [0])
}

/** Rolls the last axis forward by `places`; what leaves at the end comes back at the start. */
export function rollLastAxis(x: TensorFlow.Tensor, places: number): TensorFlow.Tensor {
  const attributes = [
    typeOf(x),
    typeAttribute('Tshift', binding.TF_INT32),
    typeAttribute('Taxis', binding.TF_INT32),
  ]
  return execute('Roll', attributes, [x], [[places], [x.rank - 1]])
}

/**
 * tfjs's own real transforms compute a complex one of the full length, which takes five times as
 * long.
 */
function fourier(name: 'RFFT' | 'IRFFT', x: TensorFlow.Tensor, length: number) {
  const attributes = [
    typeAttribute('Treal', binding.TF_FLOAT),
    typeAttribute('Tcomplex', binding.TF_COMPLEX64),
  ]
  return execute(name, attributes, [x], [[length]])
}

/**
 * Whether x is held in bfloat16. tfjs has no name for that type and takes such a tensor for a
 * float32 one. It can be tidied and disposed of as usual, but only functions in this file can
 * compute with it; the native library refuses all others.
 */
export const isBfloat16 = (x: TensorFlow.Tensor): boolean => storedType(x) === BFLOAT16

/**
 * Makes a float32 tensor in native memory at once. tfjs's own tensors stay in JavaScript until they
 * are used, so that a network would exist twice when it is first used.
 */
export function upload(values: Float32Array, shape: readonly number[]): TensorFlow.Tensor {
  const id = native.binding.createTensor(shape, binding.TF_FLOAT, values)
  return adopt({ id, shape: [...shape], dtype: binding.TF_FLOAT })
}

/**
 * Makes a bfloat16 tensor from an even number of values, given as bits. They are passed as half as
 * many float32 values, because the native library can take those.
 */
export function uploadBfloat16(bits: Uint16Array, shape: readonly number[]): TensorFlow.Tensor {
  return tf.tidy(() => {
    const half = bits.length / 2
    const pairs = upload(new Float32Array(bits.buffer, bits.byteOffset, half), [half])
    const attributes = [typeOf(pairs), typeAttribute('type', BFLOAT16)]
    return reshape(execute('Bitcast', attributes, [pairs]), shape) // from [half, 2]
  })
}

/** Rounds x to bfloat16. */
export const toBfloat16 = (x: TensorFlow.Tensor): TensorFlow.Tensor => cast(x, BFLOAT16)

/** Converts a bfloat16 tensor to float32. */
export const toFloat32 = (x: TensorFlow.Tensor): TensorFlow.Tensor => cast(x, binding.TF_FLOAT)

function cast(x: TensorFlow.Tensor, type: number): TensorFlow.Tensor {
  const attributes = [
    typeAttribute('SrcT', storedType(x)),
    typeAttribute('DstT', type),
    flag('Truncate', false),
  ]
  return execute('Cast', attributes, [x])
}

/** Shapes, axes and similar numbers, lists or tables, which stay on the host. */
type Integers = number | readonly number[] | readonly (readonly number[])[]

/** Runs one operation of the native library; `integers` are its last inputs. */
function execute(
  name: string,
  attributes: readonly Attribute[],
  inputs: readonly TensorFlow.Tensor[],
  integers: readonly Integers[] = [],
): TensorFlow.Tensor {
  const integerIds = integers.map(createIntegers)
  try {
    const ids = [...native.getInputTensorIds(inputs), ...integerIds]
    return adopt(native.binding.executeOp(name, attributes, ids, 1)[0]!)
  } finally {
    for (const id of integerIds) native.binding.deleteTensor(id)
  }
}

/** Makes a native tensor, whose id the caller must free. */
function createIntegers(integers: Integers): number {
  const rows = [integers].flat() as (number | readonly number[])[]
  const columns = Array.isArray(rows[0]) ? [rows[0].length] : []
  const shape = typeof integers === 'number' ? [] : [rows.length, ...columns]
  return native.binding.createTensor(shape, binding.TF_INT32, Int32Array.from(rows.flat()))
}

/** Wraps a tensor of the native library as one of tfjs. */
export function adopt(stored: NativeTensor): TensorFlow.Tensor {
  const dataId = {}
  native.tensorMap.set(dataId, { ...stored, values: null, refCount: 1 })
  const dtype = stored.dtype === binding.TF_COMPLEX64 ? 'complex64' : 'float32'
  return tf.engine().makeTensorFromTensorInfo({ dataId, shape: stored.shape, dtype })
}

/** Returns x as a native tensor, which it stays from then on. */
export function storedOf(x: TensorFlow.Tensor): NativeTensor {
  native.getInputTensorIds([x])
  return native.tensorMap.get(x.dataId)
}

const storedType = (x: TensorFlow.Tensor): number => native.tensorMap.get(x.dataId).dtype

const typeOf = (x: TensorFlow.Tensor): Attribute => typeAttribute('T', storedType(x))

function typeAttribute(name: string, value: number): Attribute {
  return { name, type: binding.TF_ATTR_TYPE, value }
}

function count(name: string, value: number): Attribute {
  return { name, type: binding.TF_ATTR_INT, value }
}

function flag(name: string, value: boolean): Attribute {
  return { name, type: binding.TF_ATTR_BOOL, value }
}

function loadTensorFlow(): typeof TensorFlow {
  const require = createRequire(import.meta.url)
  // The package calls two functions that Node 22 warns about and Node 23 no longer has.
  Object.assign(require('node:util'), {
    isArray: Array.isArray,
    isNullOrUndefined: (value: unknown) => value === null || value === undefined,
  })
  Object.assign(process.env, deviceDefaults(process.env))
  let loaded: typeof TensorFlow
  try {
    loaded = require('@tensorflow/tfjs-node-gpu')
  } catch (cause) {
    const hint = 'run `node scripts/setup/setup.mjs` to build it'
    throw new Error(`TensorFlow's native library could not be loaded: ${hint}`, { cause })
  }
  if (loaded.getBackend() !== 'tensorflow') {
    const found = `its backend is "${loaded.getBackend()}"`
    const hint = 'run `node scripts/setup/setup.mjs` to build the native one'
    throw new Error(`TensorFlow.js would compute in JavaScript (${found}): ${hint}`)
  }
  if (!('memoryStats' in (loaded.backend() as unknown as NativeBackend).binding)) {
    const hint = 'run `node scripts/setup/setup.mjs` to build this one'
    throw new Error(`TensorFlow's binding was built by another version of Winnow: ${hint}`)
  }
  return loaded
}
