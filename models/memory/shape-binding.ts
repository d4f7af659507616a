/**
 * Stands in for the native library and computes nothing: every operation returns only the shape of
 * its result, and the memory that it would need is counted. This way a network of any size can be
 * loaded and run on any machine, from the shapes of its weights, to find out what it needs.
 */
import { countOf } from '../checkpoint/stored-tensor.ts'
import type { Attribute, Binding, NativeTensor } from '../tensorflow/binding.ts'
import { native } from '../tensorflow/tensor.ts'
import { resultsOf, TYPES, WIDTHS, type Result, type ShapedTensor } from './shape-rules.ts'

/** TensorFlow's allocators round up to this. */
const ROUNDING_BYTES = 256

/** Of the values that JavaScript passes, this many are kept; shapes and axes never need more. */
const VALUES_KEPT = 64

/** The library counts its own ids from 0. */
const FIRST_ID = 2 ** 30
/** The latest id. All bindings share one counter, so an id means one tensor. */
let lastId = FIRST_ID

/** Bytes on a device, freed with the last tensor that uses them. */
interface Room {
  bytes: number
  tensors: number
}

interface TrackedShape extends ShapedTensor {
  room: Room
}

/** Counts the bytes in use, and their peak since the last query. */
export class ShapeMemory {
  #inUse = 0
  #peak = 0

  get inUse(): number {
    return this.#inUse
  }

  /** Returns the peak since the last call. */
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
 * Runs `work` on shapes alone. What it loads can only be used within it.
 * @throws Error while another such work is running, because the whole process computes nothing in
 *   the meantime
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
 * @param library the binding to stand in for; tensors that are not our own are freed there
 * @param lookUp returns shape and type of such a tensor; if absent, none may be used
 */
export function shapeBinding(
  library: Binding,
  memory: ShapeMemory,
  lookUp: (id: number) => ShapedTensor = refuse,
): Binding {
  const tensors = new Map<number, TrackedShape>()

  const keep = ({ shape, dtype, values }: ShapedTensor, room: Room): NativeTensor => {
    lastId += 1
    room.tensors += 1
    tensors.set(lastId, { shape, dtype, values, room })
    return { id: lastId, shape: [...shape], dtype }
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
    // Integers stay on the host.
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

function bytesOf({ shape, dtype }: ShapedTensor): number {
  const width = WIDTHS[dtype]
  if (width !== undefined) return width * countOf(shape)
  throw new Error(`the width of TensorFlow's type ${dtype} is not known`)
}
