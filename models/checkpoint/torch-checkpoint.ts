/** A validating reader of state dicts saved by torch.save: a zip of a pickle and storages. */
import {
  areSizes,
  bfloat16,
  countOf,
  float16,
  float32,
  int32,
  type NumberFormat,
  type Scratch,
  type StoredTensor,
} from './stored-tensor.ts'
import { unpickle, type PickleWorld } from './unpickle.ts'
import { openZip, type ZipEntry } from './zip-entries.ts'

interface StorageType {
  /** Name of its class in torch. */
  readonly name: string
  /**
   * Absent if its numbers cannot be read, since a state dict may contain counters that nobody
   * needs.
   */
  readonly format?: NumberFormat
}

const STORAGE_TYPES: readonly StorageType[] = [
  { name: 'FloatStorage', format: float32 },
  { name: 'HalfStorage', format: float16 },
  { name: 'BFloat16Storage', format: bfloat16 },
  { name: 'IntStorage', format: int32 },
  ...['Double', 'Long', 'Short', 'Char', 'Byte', 'Bool'].map((kind) => ({
    name: `${kind}Storage`,
  })),
]

/** Enough for a hundred thousand tensors. Every byte may cost a hundred bytes of memory. */
const PICKLE_BYTES_MAX = 16 * 1024 * 1024
const AXES_MAX = 64

/** A sequence of numbers, shared by any number of tensors. */
class Storage {
  readonly type: StorageType
  readonly count: number
  readonly entry: ZipEntry

  constructor(type: StorageType, count: number, entry: ZipEntry) {
    this.type = type
    this.count = count
    this.entry = entry
  }
}

/** Which numbers of a storage belong to a tensor. */
class Layout {
  readonly storage: Storage
  readonly offset: number
  readonly shape: readonly number[]
  /** The distance between neighbouring numbers along each axis. */
  readonly strides: readonly number[]

  constructor(
    storage: Storage,
    offset: number,
    shape: readonly number[],
    strides: readonly number[],
  ) {
    this.storage = storage
    this.offset = offset
    this.shape = shape
    this.strides = strides
  }

  get count(): number {
    return countOf(this.shape)
  }

  /** How many numbers there are from the first to the last, both included. */
  get span(): number {
    if (this.count === 0) return 0
    return this.shape.reduce((span, size, axis) => span + (size - 1) * this.strides[axis]!, 1)
  }

  /** Whether the numbers are in row-major order. */
  get isContiguous(): boolean {
    let expected = 1
    for (let axis = this.shape.length - 1; axis >= 0; axis -= 1) {
      if (this.shape[axis] === 1) continue
      if (this.strides[axis] !== expected) return false
      expected *= this.shape[axis]!
    }
    return true
  }
}

/**
 * Returns the tensors of a state dict by name. Reads only the pickle, and executes nothing in it. A
 * tensor's type and the size of its storage are checked when its numbers are read.
 * @throws Error naming the file, and the tensor if it is the cause, if the file is anything else
 */
export const openTorchCheckpoint = (file: string): ReadonlyMap<string, StoredTensor> =>
  stateDictOf(file, readTorchFile(file))

/** Replacements for Python names other than those of tensors and dictionaries. */
type Names = Partial<Pick<PickleWorld, 'globals' | 'othersAreInert'>>

/**
 * Reads anything that torch.save wrote; `stateDictOf` finds the dictionaries of tensors in it.
 * @throws Error naming the file if it is damaged or contains anything refused
 */
export function readTorchFile(file: string, names: Names = {}): unknown {
  const entries = openZip(file)
  const root = rootOf(file, [...entries.keys()])
  assertLittleEndian(file, entries.get(`${root}/byteorder`))
  return readPickle(file, root, entries, names)
}

/**
 * Returns the tensors of a dictionary that `readTorchFile` found in a file.
 * @throws like `openTorchCheckpoint`
 */
export function stateDictOf(file: string, stateDict: unknown): ReadonlyMap<string, StoredTensor> {
  if (!(stateDict instanceof Map)) throw new Error(`${file}: is not a dictionary of tensors`)
  const tensors = new Map<string, StoredTensor>()
  for (const [name, layout] of stateDict) {
    if (typeof name !== 'string') throw new Error(`${file}: a tensor's name is not a text`)
    const where = `${file}: tensor ${name}`
    if (!(layout instanceof Layout)) throw new Error(`${where}: is not a tensor`)
    tensors.set(name, storedTensor(where, layout))
  }
  return tensors
}

/**
 * Returns the single folder that contains everything; it has the name that the file was saved
 * under.
 */
function rootOf(file: string, names: readonly string[]): string {
  const pickles = names.filter((name) => /^[^/]+\/data\.pkl$/.test(name))
  if (pickles.length === 1) return pickles[0]!.split('/')[0]!
  throw new Error(`${file}: not a checkpoint of torch.save (it has ${pickles.length} data.pkl)`)
}

/** Older versions of torch do not state the byte order, and were always little-endian. */
function assertLittleEndian(file: string, entry: ZipEntry | undefined): void {
  if (!entry) return
  const order = new TextDecoder().decode(entry.read(0, Math.min(entry.bytes, 16)))
  if (order !== 'little') throw new Error(`${file}: byte order ${order} is not little`)
}

function readPickle(
  file: string,
  root: string,
  entries: ReadonlyMap<string, ZipEntry>,
  { globals, othersAreInert = false }: Names,
): unknown {
  const entry = entries.get(`${root}/data.pkl`)!
  if (entry.bytes > PICKLE_BYTES_MAX) throw new Error(`${file}: its pickle is too long`)
  try {
    return unpickle(entry.read(0, entry.bytes), {
      globals: {
        ...globals,
        ...Object.fromEntries(STORAGE_TYPES.map((type) => [`torch.${type.name}`, type])),
        'collections.OrderedDict': emptyDictionary,
        'torch._utils._rebuild_tensor_v2': layTensor,
      },
      othersAreInert,
      persistent: (id) => findStorage(id, root, entries),
    })
  } catch (cause) {
    throw new Error(`${file}: ${(cause as Error).message}`, { cause })
  }
}

function emptyDictionary(values: readonly unknown[]): Map<unknown, unknown> {
  if (values.length > 0) throw new Error('an OrderedDict is made from a list')
  return new Map()
}

/**
 * Finds a storage by its id: a keyword, the type, the name in the zip, a device, and the length.
 */
function findStorage(id: unknown, root: string, entries: ReadonlyMap<string, ZipEntry>): Storage {
  const [word, global, key, , count] = Array.isArray(id) && id.length === 5 ? id : []
  const type = STORAGE_TYPES.find((known) => known === global)
  if (word !== 'storage' || !type || typeof key !== 'string' || !areSizes([count])) {
    throw new Error('a persistent id is not that of a storage')
  }
  const entry = entries.get(`${root}/data/${key}`)
  if (!entry) throw new Error(`storage ${key} is missing`)
  return new Storage(type, count, entry)
}

/**
 * Makes a tensor from a storage, an offset, sizes and strides; gradients and hooks are ignored. It
 * may not have more numbers than its storage, so that the file's size bounds what is read.
 */
function layTensor(values: readonly unknown[]): Layout {
  const [storage, offset, shape, strides] = values
  const isTensor =
    values.length === 6 &&
    storage instanceof Storage &&
    areSizes([offset]) &&
    areSizes(shape) &&
    areSizes(strides) &&
    shape.length === strides.length
  if (!isTensor) throw new Error('a tensor is not made of a storage, an offset, sizes and strides')
  // copy, because a list may grow after the check
  const layout = new Layout(storage, offset as number, [...shape], [...strides])
  const end = layout.offset + layout.span
  if (shape.length > AXES_MAX || layout.count > storage.count || end > storage.count) {
    const what = `[${shape.slice(0, 8)}] at ${layout.offset} with strides [${strides.slice(0, 8)}]`
    throw new Error(`a tensor ${what} is not within the ${storage.count} of its storage`)
  }
  return layout
}

function storedTensor(where: string, layout: Layout): StoredTensor {
  const {
    shape,
    storage: { type, count, entry },
  } = layout
  const bytes = count === 0 ? 0 : Math.floor((entry.bytes / count) * layout.count)
  const values = (scratch?: Scratch) => {
    if (!type.format) throw new Error(`${where}: a ${type.name} can't be read`)
    const needed = count * type.format.width
    if (entry.bytes === needed) return readValues(layout, type.format, scratch)
    throw new Error(`${where}: ${type.name} of ${count} takes ${needed} bytes, not ${entry.bytes}`)
  }
  return { shape, type: type.name, bytes, values }
}

function readValues(layout: Layout, { width, decode }: NumberFormat, scratch?: Scratch) {
  const {
    storage: { entry },
    offset,
    span,
  } = layout
  const bytes = entry.read(offset * width, span * width, scratch?.stored(span, width))
  const numbers = decode(bytes, scratch)
  const isOrdered = layout.count === 0 || layout.isContiguous
  return isOrdered ? numbers : toRowMajor(numbers, layout)
}

/** Copies the numbers of a transposed or sliced tensor into row-major order. */
function toRowMajor(numbers: Float32Array | Int32Array, { count, shape, strides }: Layout) {
  const isInteger = numbers instanceof Int32Array
  const ordered = isInteger ? new Int32Array(count) : new Float32Array(count)
  let next = 0
  const visit = (axis: number, start: number): void => {
    if (axis === shape.length) {
      ordered[next] = numbers[start]!
      next += 1
      return
    }
    for (let i = 0; i < shape[axis]!; i += 1) visit(axis + 1, start + i * strides[axis]!)
  }
  visit(0, 0)
  return ordered
}
