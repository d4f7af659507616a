/** Writes state dicts like torch.save does; on request, malicious ones too. */
import { writeZip, type Entry, type ZipOptions } from './zip-file.ts'

/** Opcodes of pickle protocol 2 with their operands. */
export const op = {
  protocol: (version = 2) => Buffer.of(0x80, version),
  stop: () => Buffer.from('.'),
  mark: () => Buffer.from('('),
  tuple: () => Buffer.from('t'),
  emptyTuple: () => Buffer.from(')'),
  emptyDictionary: () => Buffer.from('}'),
  emptyList: () => Buffer.from(']'),
  append: () => Buffer.from('a'),
  appendAll: () => Buffer.from('e'),
  setItem: () => Buffer.from('s'),
  setItems: () => Buffer.from('u'),
  persistentId: () => Buffer.from('Q'),
  reduce: () => Buffer.from('R'),
  build: () => Buffer.from('b'),
  none: () => Buffer.from('N'),
  yes: () => Buffer.of(0x88),
  no: () => Buffer.of(0x89),
  float: (value: number) => {
    const bytes = Buffer.alloc(9)
    bytes.write('G')
    bytes.writeDoubleBE(value, 1)
    return bytes
  },
  global: (module: string, name: string) => Buffer.from(`c${module}\n${name}\n`),
  put: (index: number) => word('r', index),
  get: (index: number) => word('j', index),
  text: (value: string) => Buffer.concat([word('X', Buffer.byteLength(value)), Buffer.from(value)]),
  integer,
}

function word(opcode: string, value: number): Buffer {
  const bytes = Buffer.alloc(5)
  bytes.write(opcode)
  bytes.writeUInt32LE(value, 1)
  return bytes
}

/** Writes a number in the shortest of Python's encodings. */
function integer(value: number): Buffer {
  if (value >= 0 && value < 0x100) return Buffer.of(0x4b, value)
  if (value >= 0 && value < 0x10000) return Buffer.of(0x4d, value & 0xff, value >> 8)
  if (Math.abs(value) < 0x80000000) {
    const bytes = Buffer.alloc(5)
    bytes.write('J')
    bytes.writeInt32LE(value, 1)
    return bytes
  }
  const bytes = Buffer.alloc(10)
  bytes.set([0x8a, 8])
  bytes.writeBigInt64LE(BigInt(value), 2)
  return bytes
}

export interface SavedStorage {
  /** Name of the class in torch, such as FloatStorage. */
  type: string
  count: number
  data: Uint8Array
  gap?: number
}

export interface SavedTensor {
  /** Index of the storage. */
  storage: number
  offset: number
  shape: readonly number[]
  strides: readonly number[]
}

export interface StateDict {
  storages: readonly SavedStorage[]
  tensors: Readonly<Record<string, SavedTensor>>
}

const tuple = (...parts: Buffer[]) => Buffer.concat([op.mark(), ...parts, op.tuple()])

const emptyOrdered = () =>
  Buffer.concat([op.global('collections', 'OrderedDict'), op.emptyTuple(), op.reduce()])

export function tensorPickle(storages: readonly SavedStorage[], tensor: SavedTensor): Buffer {
  const { storage, offset, shape, strides } = tensor
  const { type, count } = storages[storage]!
  return Buffer.concat([
    op.global('torch._utils', '_rebuild_tensor_v2'),
    tuple(
      tuple(
        op.text('storage'),
        op.global('torch', type),
        op.text(`${storage}`),
        op.text('cpu'),
        op.integer(count),
      ),
      op.persistentId(),
      op.integer(offset),
      tuple(...shape.map(integer)),
      tuple(...strides.map(integer)),
      op.no(),
      emptyOrdered(),
    ),
    op.reduce(),
  ])
}

/** Pickles an ordered dictionary with attributes, as returned by `state_dict()`. */
export function dictionaryPickle(items: Readonly<Record<string, Buffer>>): Buffer {
  const pairs = Object.entries(items).flatMap(([name, value]) => [op.text(name), value])
  const attributes = Buffer.concat([
    op.emptyDictionary(),
    op.text('_metadata'),
    emptyOrdered(),
    op.setItem(),
    op.build(),
  ])
  return Buffer.concat([
    op.protocol(),
    emptyOrdered(),
    op.put(70_000),
    op.mark(),
    ...pairs,
    op.setItems(),
    attributes,
    op.stop(),
  ])
}

export function stateDictPickle({ storages, tensors }: StateDict): Buffer {
  return dictionaryPickle(
    Object.fromEntries(
      Object.entries(tensors).map(([name, tensor]) => [name, tensorPickle(storages, tensor)]),
    ),
  )
}

export function torchEntries(pickle: Buffer, storages: readonly SavedStorage[]): Entry[] {
  return [
    { name: 'archive/data.pkl', data: pickle },
    { name: 'archive/byteorder', data: Buffer.from('little') },
    ...storages.map(({ data, gap = 0 }, key) => ({ name: `archive/data/${key}`, data, gap })),
    { name: 'archive/version', data: Buffer.from('3\n') },
  ]
}

export function writeStateDict(file: string, stateDict: StateDict, options?: ZipOptions): void {
  writeZip(file, torchEntries(stateDictPickle(stateDict), stateDict.storages), options)
}
