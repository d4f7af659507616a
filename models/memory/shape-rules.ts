/** Shape rules: what type and shape an operation of the native library returns for given inputs. */
import { countOf } from '../checkpoint/stored-tensor.ts'
import type { Attribute } from '../tensorflow/binding.ts'

/** A tensor without values. */
export interface ShapedTensor {
  shape: readonly number[]
  /** TensorFlow's number of the type. */
  dtype: number
  /** Known if it was made in JavaScript, such as shapes and axes. */
  values?: ArrayLike<number> | undefined
}

/**
 * A result. `sharesInput` means that it is the first input in another shape and needs no memory.
 */
export interface Result extends ShapedTensor {
  sharesInput?: boolean
}

/** TensorFlow's numbers of its types, and the size of one value in bytes. */
export const TYPES = { float32: 1, int32: 3, complex64: 8, bool: 10, bfloat16: 14 } as const
export const WIDTHS: Readonly<Record<number, number>> = { 1: 4, 3: 4, 8: 8, 10: 1, 14: 2 }

interface Call {
  /** The first input. */
  x: ShapedTensor
  input(place: number): ShapedTensor
  /** Returns the numbers of an input that is a shape, axes or the like. */
  numbers(place: number): number[]
  attribute(name: string): Attribute['value'] | undefined
  inputs: readonly ShapedTensor[]
  outputs: number
}

type Rule = (call: Call) => Result[]

/** @throws Error naming an operation without a rule */
export function resultsOf(
  op: string,
  attributes: readonly Attribute[],
  inputs: readonly ShapedTensor[],
  outputs: number,
): Result[] {
  const rule = RULES[op]
  if (!rule) throw new Error(`there is no rule for the shape that ${op} gives`)
  const input = (place: number): ShapedTensor => {
    const tensor = inputs.at(place)
    if (tensor) return tensor
    throw new Error(`${op} has no input ${place}`)
  }
  return rule({
    x: input(0),
    input,
    numbers(place) {
      const { values } = input(place)
      if (values) return Array.from(values)
      throw new Error(`a shape or an axis of ${op} was computed, not given`)
    },
    attribute: (name) => attributes.find((attribute) => attribute.name === name)?.value,
    inputs,
    outputs,
  })
}

const same: Rule = ({ x: { shape, dtype } }) => [{ shape, dtype }]

/** The shape of two inputs that broadcast; `dtype` replaces their type. */
const broadcast =
  (dtype?: number): Rule =>
  ({ x, input }) => [{ shape: broadcastShape(x.shape, input(1).shape), dtype: dtype ?? x.dtype }]

function broadcastShape(a: readonly number[], b: readonly number[]): number[] {
  const rank = Math.max(a.length, b.length)
  return Array.from({ length: rank }, (_, i) => {
    const [x = 1, y = 1] = [a[i - rank + a.length], b[i - rank + b.length]]
    return x === 1 ? y : x
  })
}

const reduction: Rule = ({ x: { shape, dtype }, numbers, attribute }) => {
  const axes = numbers(1).map((axis) => (axis + shape.length) % shape.length)
  const shapeOut = attribute('keep_dims')
    ? shape.map((size, axis) => (axes.includes(axis) ? 1 : size))
    : shape.filter((_, axis) => !axes.includes(axis))
  return [{ shape: shapeOut, dtype }]
}

const padding: Rule = ({ x: { shape, dtype }, numbers }) => {
  const paddings = numbers(1)
  const sizes = shape.map((size, axis) => size + paddings[2 * axis]! + paddings[2 * axis + 1]!)
  return [{ shape: sizes, dtype }]
}

const reshape: Rule = ({ x: { shape, dtype }, numbers }) => {
  const target = numbers(1)
  const knownSize = countOf(target.filter((size) => size >= 0))
  const sizes = target.map((size) => (size < 0 ? countOf(shape) / knownSize : size))
  return [{ shape: sizes, dtype, sharesInput: true }]
}

/** If only axes of size 1 move, nothing needs to be copied. */
const transpose: Rule = ({ x: { shape, dtype }, numbers }) => {
  const order = numbers(1)
  const moving = order.filter((axis) => shape[axis] !== 1)
  const sharesInput = moving.every((axis, i) => i === 0 || axis > moving[i - 1]!)
  return [{ shape: order.map((axis) => shape[axis]!), dtype, sharesInput }]
}

/** A slice of the first axis is contiguous in memory. */
const slice: Rule = ({ x: { shape, dtype }, numbers }) => {
  const begin = numbers(1)
  const sizes = numbers(2).map((size, axis) => (size < 0 ? shape[axis]! - begin[axis]! : size))
  const sharesInput = sizes.every((size, axis) => axis === 0 || size === shape[axis])
  return [{ shape: sizes, dtype, sharesInput }]
}

const product: Rule = ({ x, input, attribute }) => {
  const y = input(1)
  const rows = x.shape.at(attribute('adj_x') ? -1 : -2)!
  const columns = y.shape.at(attribute('adj_y') ? -2 : -1)!
  const batch = broadcastShape(x.shape.slice(0, -2), y.shape.slice(0, -2))
  return [{ shape: [...batch, rows, columns], dtype: x.dtype }]
}

/** @param channelsOf how many output channels a filter makes */
const convolution =
  (channelsOf: (filter: readonly number[]) => number): Rule =>
  ({ x: { shape, dtype }, input, attribute }) => {
    const filter = input(1).shape
    const sizes = windowed(shape, [filter[0]!, filter[1]!], attribute)
    return [{ shape: [shape[0]!, ...sizes, channelsOf(filter)], dtype }]
  }

const pooling: Rule = ({ x: { shape, dtype }, attribute }) => {
  const [, height = 1, width = 1] = attribute('ksize') as readonly number[]
  const sizes = windowed(shape, [height, width], attribute)
  return [{ shape: [shape[0]!, ...sizes, shape[3]!], dtype }]
}

/** Output height and width for windows over [batch, height, width, channels]. */
function windowed(
  shape: readonly number[],
  kernel: readonly [number, number],
  attribute: Call['attribute'],
): number[] {
  const strides = attribute('strides') as readonly number[]
  const dilations = (attribute('dilations') ?? [1, 1, 1, 1]) as readonly number[]
  const padding = attribute('padding')
  const explicit = (attribute('explicit_paddings') ?? []) as readonly number[]
  return kernel.map((size, i) => {
    const axis = i + 1
    const before = padding === 'EXPLICIT' ? explicit[2 * axis]! + explicit[2 * axis + 1]! : 0
    const length = shape[axis]! + before
    const reach = padding === 'SAME' ? 1 : dilations[axis]! * (size - 1) + 1
    return Math.ceil((length - reach + 1) / strides[axis]!)
  })
}

const concatenation: Rule = ({ x: { shape, dtype }, inputs, numbers }) => {
  const axis = (numbers(-1)[0]! + shape.length) % shape.length
  const total = inputs.slice(0, -1).reduce((sum, part) => sum + part.shape[axis]!, 0)
  return [{ shape: shape.map((size, i) => (i === axis ? total : size)), dtype }]
}

const split: Rule = ({ x: { shape, dtype }, numbers }) => {
  const axis = (numbers(2)[0]! + shape.length) % shape.length
  return numbers(1).map((part) => ({
    shape: shape.map((size, i) => (i === axis ? part : size)),
    dtype,
    sharesInput: axis === 0,
  }))
}

const stack: Rule = ({ x: { shape, dtype }, inputs, attribute }) => {
  const place = attribute('axis') as number
  const axis = place < 0 ? place + shape.length + 1 : place
  return [{ shape: [...shape.slice(0, axis), inputs.length, ...shape.slice(axis)], dtype }]
}

const unstack: Rule = ({ x: { shape, dtype }, attribute, outputs }) => {
  const axis = ((attribute('axis') as number) + shape.length) % shape.length
  const rest = shape.filter((_, i) => i !== axis)
  return Array.from({ length: outputs }, () => ({ shape: rest, dtype, sharesInput: axis === 0 }))
}

const gather: Rule = ({ x: { shape, dtype }, input, numbers }) => {
  const axis = numbers(2)[0]!
  const sizes = [...shape.slice(0, axis), ...input(1).shape, ...shape.slice(axis + 1)]
  return [{ shape: sizes, dtype }]
}

const range: Rule = ({ x: { dtype }, numbers }) => {
  const [start, limit, delta] = [numbers(0)[0]!, numbers(1)[0]!, numbers(2)[0]!]
  return [{ shape: [Math.ceil((limit - start) / delta)], dtype }]
}

/** The shape of the input, with a different last axis. */
const transform =
  (dtype: number, lengthOf: (length: number) => number): Rule =>
  ({ x, numbers }) => [{ shape: [...x.shape.slice(0, -1), lengthOf(numbers(1)[0]!)], dtype }]

const ofType =
  (dtype: number): Rule =>
  ({ x: { shape } }) => [{ shape, dtype }]

/** Operations that keep the shape and type of their first input. */
const SAME_SHAPE =
  'Abs AddN Elu Erf LeakyRelu Log Neg Relu Roll Rsqrt Sigmoid Sin Softmax Softplus SoftplusGrad ' +
  'Sqrt Square Tanh ZerosLike _MklSoftmax'

const rulesFor = (ops: string, rule: Rule) =>
  Object.fromEntries(ops.split(' ').map((op) => [op, rule]))

const RULES: Readonly<Record<string, Rule>> = {
  ...rulesFor(SAME_SHAPE, same),
  ...rulesFor('Add Maximum Mul Pow RealDiv Sub', broadcast()),
  ...rulesFor('Equal Less', broadcast(TYPES.bool)),
  ...rulesFor('EuclideanNorm Max Mean Sum', reduction),
  ...rulesFor('MirrorPad Pad PadV2', padding),
  ArgMax: ({ x: { shape }, numbers, attribute }) => {
    const axis = (numbers(1)[0]! + shape.length) % shape.length
    const dtype = (attribute('output_type') as number | undefined) ?? TYPES.int32
    return [{ shape: shape.filter((_, i) => i !== axis), dtype }]
  },
  AvgPool: pooling,
  BatchMatMulV2: product,
  Bitcast: ({ x: { shape }, attribute }) => [
    { shape: [...shape, 2], dtype: attribute('type') as number, sharesInput: true },
  ], // the only cast in use: from float32 to half the width
  Cast: ({ x: { shape, dtype: from }, attribute }) => {
    const dtype = attribute('DstT') as number
    return [{ shape, dtype, sharesInput: dtype === from }]
  },
  Complex: ofType(TYPES.complex64),
  ConcatV2: concatenation,
  Conv2D: convolution(([, , , outputs = 0]) => outputs),
  Conv2DBackpropInput: ({ input, numbers }) => [{ shape: numbers(0), dtype: input(1).dtype }],
  DepthwiseConv2dNative: convolution(([, , inputs = 0, each = 0]) => inputs * each),
  ExpandDims: ({ x: { shape, dtype }, numbers }) => {
    const place = numbers(1)[0]!
    const axis = place < 0 ? place + shape.length + 1 : place
    const sizes = [...shape.slice(0, axis), 1, ...shape.slice(axis)]
    return [{ shape: sizes, dtype, sharesInput: true }]
  },
  GatherV2: gather,
  IRFFT: transform(TYPES.float32, (length) => length),
  Identity: ({ x }) => [{ ...x, sharesInput: true }],
  Imag: ofType(TYPES.float32),
  Pack: stack,
  RFFT: transform(TYPES.complex64, (length) => length / 2 + 1),
  Range: range,
  Real: ofType(TYPES.float32),
  Reshape: reshape,
  Select: ({ input }) => [{ shape: input(1).shape, dtype: input(1).dtype }],
  Slice: slice,
  SplitV: split,
  Tile: ({ x: { shape, dtype }, numbers }) => {
    const multiples = numbers(1)
    return [{ shape: shape.map((size, i) => size * multiples[i]!), dtype }]
  },
  Transpose: transpose,
  Unpack: unstack,
  WinnowLstm: ({ x: { shape, dtype }, input }) => {
    const [steps, rows, dim] = shape as [number, number, number]
    return [{ shape: [steps, rows, 2 * (input(1).shape[2]! - dim)], dtype }]
  },
}
