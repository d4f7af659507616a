/** Shape rules: what type and shape an operation of the native library returns for given inputs. */
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
  inputs: readonly ShapedTensor[]
  attribute(name: string): Attribute['value'] | undefined
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
  const attribute = (name: string) => attributes.find((each) => each.name === name)?.value
  return rule({ inputs, attribute, outputs })
}

const at = (inputs: readonly ShapedTensor[], place: number): ShapedTensor => {
  const input = inputs.at(place)
  if (input) return input
  throw new Error(`there is no input ${place}`)
}

/** Returns the numbers of an input that is a shape, axes or the like. */
function numbersOf(inputs: readonly ShapedTensor[], place: number): number[] {
  const { values } = at(inputs, place)
  if (values) return Array.from(values)
  throw new Error('a shape or an axis was computed, not given')
}

const same: Rule = ({ inputs }) => [{ shape: at(inputs, 0).shape, dtype: at(inputs, 0).dtype }]

/** The shape of two inputs that broadcast; `dtype` replaces their type. */
const broadcast =
  (dtype?: number): Rule =>
  ({ inputs }) => {
    const [a, b] = [at(inputs, 0), at(inputs, 1)]
    return [{ shape: broadcastShape(a.shape, b.shape), dtype: dtype ?? a.dtype }]
  }

function broadcastShape(a: readonly number[], b: readonly number[]): number[] {
  const rank = Math.max(a.length, b.length)
  return Array.from({ length: rank }, (_, i) => {
    const [x = 1, y = 1] = [a[i - rank + a.length], b[i - rank + b.length]]
    return x === 1 ? y : x
  })
}

const reduction: Rule = ({ inputs, attribute }) => {
  const { shape, dtype } = at(inputs, 0)
  const axes = numbersOf(inputs, 1).map((axis) => (axis + shape.length) % shape.length)
  const kept = shape.map((size, axis) => (axes.includes(axis) ? 1 : size))
  const shapeOut = attribute('keep_dims') ? kept : kept.filter((_, axis) => !axes.includes(axis))
  return [{ shape: shapeOut, dtype }]
}

const padded: Rule = ({ inputs }) => {
  const { shape, dtype } = at(inputs, 0)
  const paddings = numbersOf(inputs, 1)
  const sizes = shape.map((size, axis) => size + paddings[2 * axis]! + paddings[2 * axis + 1]!)
  return [{ shape: sizes, dtype }]
}

const reshaped: Rule = ({ inputs }) => {
  const { shape, dtype } = at(inputs, 0)
  const target = numbersOf(inputs, 1)
  const knownSize = countOf(target.filter((size) => size >= 0))
  const sizes = target.map((size) => (size < 0 ? countOf(shape) / knownSize : size))
  return [{ shape: sizes, dtype, sharesInput: true }]
}

/** If only axes of size 1 move, nothing needs to be copied. */
const transposed: Rule = ({ inputs }) => {
  const { shape, dtype } = at(inputs, 0)
  const order = numbersOf(inputs, 1)
  const moving = order.filter((axis) => shape[axis] !== 1)
  const sharesInput = moving.every((axis, i) => i === 0 || axis > moving[i - 1]!)
  return [{ shape: order.map((axis) => shape[axis]!), dtype, sharesInput }]
}

/** A slice of the first axis is contiguous in memory. */
const sliced: Rule = ({ inputs }) => {
  const { shape, dtype } = at(inputs, 0)
  const begin = numbersOf(inputs, 1)
  const sizes = numbersOf(inputs, 2).map((size, axis) =>
    size < 0 ? shape[axis]! - begin[axis]! : size,
  )
  const sharesInput = sizes.every((size, axis) => axis === 0 || size === shape[axis])
  return [{ shape: sizes, dtype, sharesInput }]
}

const product: Rule = ({ inputs, attribute }) => {
  const [a, b] = [at(inputs, 0), at(inputs, 1)]
  const rows = a.shape.at(attribute('adj_x') ? -1 : -2)!
  const columns = b.shape.at(attribute('adj_y') ? -2 : -1)!
  const batch = broadcastShape(a.shape.slice(0, -2), b.shape.slice(0, -2))
  return [{ shape: [...batch, rows, columns], dtype: a.dtype }]
}

const convolved: Rule = ({ inputs, attribute }) => {
  const [x, filter] = [at(inputs, 0), at(inputs, 1)]
  const sizes = windowed(x.shape, [filter.shape[0]!, filter.shape[1]!], attribute)
  return [{ shape: [x.shape[0]!, ...sizes, filter.shape[3]!], dtype: x.dtype }]
}

const depthwise: Rule = ({ inputs, attribute }) => {
  const [x, filter] = [at(inputs, 0), at(inputs, 1)]
  const sizes = windowed(x.shape, [filter.shape[0]!, filter.shape[1]!], attribute)
  const channels = filter.shape[2]! * filter.shape[3]!
  return [{ shape: [x.shape[0]!, ...sizes, channels], dtype: x.dtype }]
}

const pooled: Rule = ({ inputs, attribute }) => {
  const { shape, dtype } = at(inputs, 0)
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

const joined: Rule = ({ inputs }) => {
  const parts = inputs.slice(0, -1)
  const { shape, dtype } = at(parts, 0)
  const axis = (numbersOf(inputs, -1)[0]! + shape.length) % shape.length
  const total = parts.reduce((sum, part) => sum + part.shape[axis]!, 0)
  return [{ shape: shape.map((size, i) => (i === axis ? total : size)), dtype }]
}

const parted: Rule = ({ inputs }) => {
  const { shape, dtype } = at(inputs, 0)
  const axis = (numbersOf(inputs, 2)[0]! + shape.length) % shape.length
  return numbersOf(inputs, 1).map((part) => ({
    shape: shape.map((size, i) => (i === axis ? part : size)),
    dtype,
    sharesInput: axis === 0,
  }))
}

const stacked: Rule = ({ inputs, attribute }) => {
  const { shape, dtype } = at(inputs, 0)
  const place = attribute('axis') as number
  const axis = place < 0 ? place + shape.length + 1 : place
  return [{ shape: [...shape.slice(0, axis), inputs.length, ...shape.slice(axis)], dtype }]
}

const unstacked: Rule = ({ inputs, attribute, outputs }) => {
  const { shape, dtype } = at(inputs, 0)
  const axis = ((attribute('axis') as number) + shape.length) % shape.length
  const rest = shape.filter((_, i) => i !== axis)
  return Array.from({ length: outputs }, () => ({ shape: rest, dtype, sharesInput: axis === 0 }))
}

const gathered: Rule = ({ inputs }) => {
  const [params, indices] = [at(inputs, 0), at(inputs, 1)]
  const axis = numbersOf(inputs, 2)[0]!
  const { shape, dtype } = params
  return [{ shape: [...shape.slice(0, axis), ...indices.shape, ...shape.slice(axis + 1)], dtype }]
}

const ranged: Rule = ({ inputs }) => {
  const [start, limit, delta] = [0, 1, 2].map((i) => numbersOf(inputs, i)[0]!) as [
    number,
    number,
    number,
  ]
  return [{ shape: [Math.ceil((limit - start) / delta)], dtype: at(inputs, 0).dtype }]
}

/** The shape of the input, with a different last axis. */
const transformed =
  (dtype: number, lengthOf: (length: number) => number): Rule =>
  ({ inputs }) => [
    { shape: [...at(inputs, 0).shape.slice(0, -1), lengthOf(numbersOf(inputs, 1)[0]!)], dtype },
  ]

const ofType =
  (dtype: number): Rule =>
  ({ inputs }) => [{ shape: at(inputs, 0).shape, dtype }]

const countOf = (shape: readonly number[]): number => shape.reduce((all, size) => all * size, 1)

const RULES: Readonly<Record<string, Rule>> = {
  ...Object.fromEntries(
    [
      ...[
        'Abs',
        'Elu',
        'Erf',
        'LeakyRelu',
        'Log',
        'Neg',
        'Relu',
        'Rsqrt',
        'Sigmoid',
        'Sin',
        'Softmax',
        'Softplus',
      ],
      ...['SoftplusGrad', 'Sqrt', 'Square', 'Tanh', 'ZerosLike', '_MklSoftmax', 'Roll', 'AddN'],
    ].map((op) => [op, same]),
  ),
  ...Object.fromEntries(
    ['Add', 'Maximum', 'Mul', 'Pow', 'RealDiv', 'Sub'].map((op) => [op, broadcast()]),
  ),
  ...Object.fromEntries(['Equal', 'Less'].map((op) => [op, broadcast(TYPES.bool)])),
  ...Object.fromEntries(['EuclideanNorm', 'Max', 'Mean', 'Sum'].map((op) => [op, reduction])),
  ...Object.fromEntries(['MirrorPad', 'Pad', 'PadV2'].map((op) => [op, padded])),
  ArgMax: ({ inputs, attribute }) => {
    const axis = numbersOf(inputs, 1)[0]!
    const shape = at(inputs, 0).shape.filter((_, i, all) => i !== (axis + all.length) % all.length)
    return [{ shape, dtype: (attribute('output_type') as number | undefined) ?? TYPES.int32 }]
  },
  AvgPool: pooled,
  BatchMatMulV2: product,
  Bitcast: ({ inputs, attribute }) => [
    { shape: [...at(inputs, 0).shape, 2], dtype: attribute('type') as number, sharesInput: true },
  ], // the only cast in use: from float32 to half the width
  Cast: ({ inputs, attribute }) => {
    const { shape, dtype: from } = at(inputs, 0)
    const dtype = attribute('DstT') as number
    return [{ shape, dtype, sharesInput: dtype === from }]
  },
  Complex: ofType(TYPES.complex64),
  ConcatV2: joined,
  Conv2D: convolved,
  Conv2DBackpropInput: ({ inputs }) => [
    { shape: numbersOf(inputs, 0), dtype: at(inputs, 1).dtype },
  ],
  DepthwiseConv2dNative: depthwise,
  ExpandDims: ({ inputs }) => {
    const { shape, dtype } = at(inputs, 0)
    const place = numbersOf(inputs, 1)[0]!
    const axis = place < 0 ? place + shape.length + 1 : place
    const grown = [...shape.slice(0, axis), 1, ...shape.slice(axis)]
    return [{ shape: grown, dtype, sharesInput: true }]
  },
  GatherV2: gathered,
  IRFFT: transformed(TYPES.float32, (length) => length),
  Identity: ({ inputs }) => [{ ...at(inputs, 0), sharesInput: true }],
  Imag: ofType(TYPES.float32),
  Pack: stacked,
  RFFT: transformed(TYPES.complex64, (length) => length / 2 + 1),
  Range: ranged,
  Real: ofType(TYPES.float32),
  Reshape: reshaped,
  Select: ({ inputs }) => [{ shape: at(inputs, 1).shape, dtype: at(inputs, 1).dtype }],
  Slice: sliced,
  SplitV: parted,
  Tile: ({ inputs }) => {
    const { shape, dtype } = at(inputs, 0)
    const multiples = numbersOf(inputs, 1)
    return [{ shape: shape.map((size, i) => size * multiples[i]!), dtype }]
  },
  Transpose: transposed,
  Unpack: unstacked,
  WinnowLstm: ({ inputs }) => {
    const [{ shape, dtype }, weights] = [at(inputs, 0), at(inputs, 1)]
    const [steps, rows, dim] = shape as [number, number, number]
    return [{ shape: [steps, rows, 2 * (weights.shape[2]! - dim)], dtype }]
  },
}
