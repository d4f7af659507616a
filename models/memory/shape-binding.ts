/**
 * Stands in for the native library and computes nothing: every operation gives the shape of its
 * result alone, and the memory that it would take is counted. So a network of any size can be
 * loaded and run for what it takes, on any machine, from the shapes of its weights.
 */
import type { Attribute, Binding, NativeTensor } from '../tensorflow/binding.ts'
import { native } from '../tensorflow/tensor.ts'
import { resultsOf, TYPES, WIDTHS, type Result, type ShapedTensor } from './shape-rules.ts'

/** TensorFlow's allocators round up to it. */
const ROUNDING_BYTES = 256

/** Values that are kept of what JavaScript gives: no more are needed of a shape or axes. */
const VALUES_KEPT = 64

/** The library counts its own from 0. */
const FIRST_ID = 2 ** 30
/** The latest id: one count for all, since one may stand on another, as in `bench/feed`. */
let made = FIRST_ID

/** Bytes of a device, freed with the last tensor that lies there. */
interface Room {
  bytes: number
  tensors: number
}

interface TrackedShape extends ShapedTensor {
  room: Room
}

/** Counts the bytes in use, and the most since the last question. */
export class ShapeMemory {
  #inUse = 0
  #peak = 0

  get inUse(): number {
    return this.#inUse
  }

  /** The most in use since the last call. */
  takePeak(): number {
    const peak = this.#peak
    this.#peak = this.#inUse
    return peak
  }

  take(bytes: number): void {
    this.#inUse += bytes
    this.#peak = Math.max(this.#peak, this.#inUse)
  }
}

/**
 * Runs `work` on shapes alone; what it loads can be used within it only.
 * @throws Error while another such work runs: all of the process computes nothing meanwhile
 */
export async function withShapeBinding<T>(work: (memory: ShapeMemory) => Promise<T>): Promise<T> {
  const { binding } = native
  if (binding.givesShapesAlone) throw new Error('one work on shapes alone at a time')
  const memory = new ShapeMemory()
  native.binding = shapeBinding(binding, memory)
  try {
    return await work(memory)
  } finally {
    native.binding = binding
  }
}

/**
 * @param library what it stands in for: tensors that are not its own are freed there
 * @param lookUp shape and type of such a tensor; absent: none may be used
 */
export function shapeBinding(
  library: Binding,
  memory: ShapeMemory,
  lookUp: (id: number) => ShapedTensor = refuse,
): Binding {
  const tensors = new Map<number, TrackedShape>()

  const keep = ({ shape, dtype, values }: ShapedTensor, room: Room): NativeTensor => {
    made += 1
    room.tensors += 1
    tensors.set(made, { shape, dtype, values, room })
    return { id: made, shape: [...shape], dtype }
  }
  const find = (id: number): TrackedShape =>
    tensors.get(id) ?? { ...lookUp(id), room: { bytes: 0, tensors: 1 } }
  const roomFor = (shaped: ShapedTensor): Room => {
    const bytes = ROUNDING_BYTES * Math.ceil(bytesOf(shaped) / ROUNDING_BYTES)
    memory.take(bytes)
    return { bytes, tensors: 0 }
  }

  const createTensor: Binding['createTensor'] = (shape, dtype, given) => {
    const values = given.length <= VALUES_KEPT ? Array.from(given as Float32Array) : undefined
    // Whole numbers stay on the host.
    const room = dtype === TYPES.int32 ? { bytes: 0, tensors: 0 } : roomFor({ shape, dtype })
    return keep({ shape, dtype, values }, room).id
  }
  const deleteTensor: Binding['deleteTensor'] = (id) => {
    const tensor = tensors.get(id)
    if (!tensor) return library.deleteTensor(id)
    tensors.delete(id)
    tensor.room.tensors -= 1
    if (tensor.room.tensors === 0) memory.take(-tensor.room.bytes)
  }
  const tensorDataSync: Binding['tensorDataSync'] = (id) => {
    const { shape, dtype, values } = find(id)
    const count = countOf(shape) * (dtype === TYPES.complex64 ? 2 : 1)
    const zeros = dtype === TYPES.int32 ? new Int32Array(count) : new Float32Array(count)
    if (values) zeros.set(values)
    return zeros
  }
  const executeOp = (
    op: string,
    attributes: readonly Attribute[],
    ids: readonly number[],
    outputs: number,
  ): NativeTensor[] => {
    const inputs = ids.map(find)
    const results = resultsOf(op, attributes, inputs, outputs)
    return results.map((result: Result) =>
      keep(result, result.sharesInput ? inputs[0]!.room : roomFor(result)),
    )
  }
  const given = { createTensor, deleteTensor, tensorDataSync, executeOp, givesShapesAlone: true }
  const properties = Object.entries(given).map(([name, value]) => [name, { value }])
  return Object.create(library, Object.fromEntries(properties)) as Binding
}

const refuse = (): never => {
  throw new Error('a tensor from elsewhere is used on shapes alone')
}

const countOf = (shape: readonly number[]): number => shape.reduce((all, size) => all * size, 1)

function bytesOf({ shape, dtype }: ShapedTensor): number {
  const width = WIDTHS[dtype]
  if (width !== undefined) return width * countOf(shape)
  throw new Error(`the width of TensorFlow's type ${dtype} is not known`)
}
