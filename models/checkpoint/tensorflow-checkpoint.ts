/**
 * Reads TensorFlow checkpoints (version 2 of the format): `<prefix>.index`, a table of sorted keys
 * in LevelDB's format, and the tensors' bytes in one or more files like
 * `<prefix>.data-00000-of-00001`.
 */
import { existsSync } from 'node:fs'
import protobuf from 'protobufjs'
import {
  countOf,
  float32,
  readBytes,
  sizeOfFile,
  type NumberFormat,
  type StoredTensor,
} from './stored-tensor.ts'

/** The parts of TensorFlow's tensor_bundle.proto that are needed here. */
const BUNDLE = protobuf.parse(
  `syntax = "proto3";
  message Header { int32 shards = 1; int32 endianness = 2; }
  message Entry {
    int32 type = 1;
    Shape shape = 2;
    int32 shard = 3;
    int64 offset = 4;
    int64 size = 5;
  }
  message Shape { repeated Dimension dimensions = 2; }
  message Dimension { int64 size = 1; }`,
).root
const Header = BUNDLE.lookupType('Header')
const Entry = BUNDLE.lookupType('Entry')
const AS_NUMBERS = { longs: Number, defaults: true, arrays: true }

interface EntryFields {
  type: number
  shape: { dimensions: { size: number }[] } | null
  shard: number
  offset: number
  size: number
}

/** TensorFlow's type numbers; tensors of other types are listed but cannot be read. */
const FORMATS: Readonly<Record<number, NumberFormat>> = { 1: float32 }

const INDEX_BYTES_MAX = 16 * 1024 * 1024
const FOOTER_BYTES = 48
const MAGIC = Buffer.from('57fb808b247547db', 'hex')
/** Each block is followed by its compression type and checksum. */
const TRAILER_BYTES = 5

/**
 * Returns the tensors of a checkpoint by name. Reads only the index.
 * @param index the file `<prefix>.index`; its data files are next to it
 * @throws Error naming the file that is damaged or missing, or the tensor that does not fit
 */
export function openTensorFlowCheckpoint(index: string): ReadonlyMap<string, StoredTensor> {
  const entries = readTable(index)
  const header = entries.get('')
  if (!header) throw new Error(`${index}: has no header of a checkpoint`)
  entries.delete('')
  const { shards, endianness } = decode<{ shards: number; endianness: number }>(
    index,
    Header,
    header,
  )
  if (endianness !== 0) throw new Error(`${index}: its numbers are not little-endian`)
  const prefix = index.replace(/\.index$/, '')
  const sizes = new Map<number, number>()
  return new Map(
    [...entries].map(([name, bytes]) => {
      const entry = decode<EntryFields>(index, Entry, bytes)
      const file = `${prefix}.data-${padded(entry.shard)}-of-${padded(shards)}`
      if (!existsSync(file))
        throw new Error(`${file}: is missing; ${index} needs it in the same folder`)
      if (!sizes.has(entry.shard)) sizes.set(entry.shard, sizeOfFile(file))
      return [name, storedTensor(`${index}: tensor ${name}`, file, entry, sizes.get(entry.shard)!)]
    }),
  )
}

const padded = (count: number): string => String(count).padStart(5, '0')

function storedTensor(
  where: string,
  file: string,
  { type, shape, offset, size }: EntryFields,
  fileBytes: number,
): StoredTensor {
  const sizes = shape?.dimensions.map((dimension) => dimension.size) ?? []
  if (!sizes.every((length) => Number.isSafeInteger(length) && length >= 0)) {
    throw new Error(`${where}: its shape is not a list of sizes`)
  }
  if (offset < 0 || size < 0 || offset + size > fileBytes) {
    throw new Error(`${where}: bytes ${offset} to ${offset + size} are not within ${file}`)
  }
  const format = FORMATS[type]
  return {
    shape: sizes,
    type: format ? 'float32' : `type ${type} of TensorFlow`,
    bytes: size,
    values(scratch) {
      if (!format) throw new Error(`${where}: its type ${type} can't be read, only float32`)
      const count = countOf(sizes)
      if (size !== count * format.width) {
        throw new Error(`${where}: float32 [${sizes}] takes ${count * format.width} bytes`)
      }
      return format.decode(
        readBytes(file, offset, size, scratch?.stored(count, format.width)),
        scratch,
      )
    },
  }
}

/** Returns the values of a LevelDB table by key. */
function readTable(file: string): Map<string, Uint8Array> {
  const bytes = sizeOfFile(file)
  if (bytes < FOOTER_BYTES || bytes > INDEX_BYTES_MAX) {
    throw new Error(`${file}: is not the index of a checkpoint of TensorFlow`)
  }
  const table = Buffer.from(readBytes(file, 0, bytes).buffer)
  if (!table.subarray(-MAGIC.length).equals(MAGIC)) {
    throw new Error(`${file}: is not the index of a checkpoint of TensorFlow`)
  }
  try {
    const footer = protobuf.Reader.create(table.subarray(-FOOTER_BYTES))
    readHandle(footer) // the table's own statistics
    const values = new Map<string, Uint8Array>()
    for (const [, handle] of entriesOf(blockAt(table, readHandle(footer)))) {
      const block = blockAt(table, readHandle(protobuf.Reader.create(handle)))
      for (const [key, value] of entriesOf(block)) values.set(key, value)
    }
    return values
  } catch (cause) {
    throw new Error(`${file}: is damaged`, { cause })
  }
}

interface Handle {
  offset: number
  size: number
}

function readHandle(reader: protobuf.Reader): Handle {
  return { offset: Number(reader.uint64()), size: Number(reader.uint64()) }
}

function blockAt(table: Buffer, { offset, size }: Handle): Buffer {
  if (offset + size + TRAILER_BYTES > table.length) throw new Error('a block ends past the file')
  if (table[offset + size] !== 0) throw new Error('a block is compressed')
  return table.subarray(offset, offset + size)
}

/**
 * Yields the entries of a block. Each key shares a prefix with the previous one; restart points are
 * at the end.
 */
function* entriesOf(block: Buffer): Generator<[key: string, value: Uint8Array]> {
  const restarts = block.readUInt32LE(block.length - 4)
  const end = block.length - 4 - 4 * restarts
  if (end < 0) throw new Error('a block has more restarts than bytes')
  const reader = protobuf.Reader.create(block.subarray(0, end))
  let key = Buffer.alloc(0)
  while (reader.pos < end) {
    const [shared, fresh, length] = [reader.uint32(), reader.uint32(), reader.uint32()]
    if (shared > key.length || reader.pos + fresh + length > end) {
      throw new Error('an entry ends past its block')
    }
    const start = reader.pos
    key = Buffer.concat([key.subarray(0, shared), block.subarray(start, start + fresh)])
    const value = block.subarray(start + fresh, start + fresh + length)
    reader.skip(fresh + length)
    yield [key.toString(), value]
  }
}

function decode<T>(file: string, type: protobuf.Type, bytes: Uint8Array): T {
  try {
    return type.toObject(type.decode(bytes), AS_NUMBERS) as T
  } catch (cause) {
    throw new Error(`${file}: is damaged`, { cause })
  }
}
