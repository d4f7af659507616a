/**
 * A reader of zip archives with uncompressed entries and, where needed, 64-bit sizes, as written by
 * torch.save. It tells where entries are, so that parts of them can be read in place.
 */
import { readBytes, sizeOfFile } from './stored-tensor.ts'

export interface ZipEntry {
  readonly bytes: number
  /**
   * Reads a part, into the given bytes (of that length) if there are any.
   * @throws Error naming the file if the part is outside the entry, or the file is damaged
   */
  read(position: number, length: number, into?: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer>
}

const END = { signature: 0x06054b50, bytes: 22, commentMax: 0xffff }
const END_64_LOCATOR = { signature: 0x07064b50, bytes: 20 }
const END_64 = { signature: 0x06064b50, bytes: 56 }
const CENTRAL = { signature: 0x02014b50, bytes: 46 }
const LOCAL = { signature: 0x04034b50, bytes: 30 }

const DIRECTORY_BYTES_MAX = 64 * 1024 * 1024
/** A 32-bit field with all bits set means that the entry's extra field has a 64-bit value. */
const IN_EXTRA = 0xffffffff
const EXTRA_64 = 0x0001
const ENCRYPTED = 1

interface Directory {
  start: number
  bytes: number
  entries: number
}

interface Record {
  name: string
  bytes: number
  /** Start of the entry's own header, and the latest position where the next thing may start. */
  start: number
  end: number
}

/**
 * Returns the entries of an archive by name. Reads only its directory.
 * @throws Error naming the file, and the entry if it is the cause, if anything is inconsistent
 */
export function openZip(file: string): ReadonlyMap<string, ZipEntry> {
  const directory = findDirectory(file)
  const records = readDirectory(file, directory)
  const inOrder = records.toSorted((a, b) => a.start - b.start)
  const entries = new Map<string, ZipEntry>()
  for (const [i, record] of inOrder.entries()) {
    const { name, bytes } = record
    record.end = inOrder[i + 1]?.start ?? directory.start
    if (record.start + LOCAL.bytes + bytes > record.end) {
      throw new Error(`${file}: entry ${name} overlaps what follows it`)
    }
    if (entries.has(name)) throw new Error(`${file}: two entries are called ${name}`)
    const read: ZipEntry['read'] = (position, length, into) =>
      readEntry(file, record, position, length, into)
    entries.set(name, { bytes, read })
  }
  return entries
}

function findDirectory(file: string): Directory {
  const fileBytes = sizeOfFile(file)
  const tailStart = Math.max(0, fileBytes - END.bytes - END.commentMax - END_64_LOCATOR.bytes)
  const tail = new DataView(readBytes(file, tailStart, fileBytes - tailStart).buffer)
  let at = tail.byteLength - END.bytes
  while (at >= 0 && tail.getUint32(at, true) !== END.signature) at -= 1
  if (at < 0) throw new Error(`${file}: not a zip archive, or cut short`)
  const locator = at - END_64_LOCATOR.bytes
  const is64 = locator >= 0 && tail.getUint32(locator, true) === END_64_LOCATOR.signature
  const directory = is64
    ? readEnd64(file, fileBytes, safeInteger(file, tail.getBigUint64(locator + 8, true)))
    : {
        entries: tail.getUint16(at + 10, true),
        bytes: tail.getUint32(at + 12, true),
        start: tail.getUint32(at + 16, true),
      }
  const { start, bytes } = directory
  if (bytes > DIRECTORY_BYTES_MAX || start + bytes > fileBytes) {
    throw new Error(`${file}: its zip directory is not within the file`)
  }
  return directory
}

function readEnd64(file: string, fileBytes: number, position: number): Directory {
  if (position + END_64.bytes > fileBytes) throw new Error(`${file}: its zip end is not within it`)
  const end = new DataView(readBytes(file, position, END_64.bytes).buffer)
  if (end.getUint32(0, true) !== END_64.signature) throw new Error(`${file}: has no 64-bit zip end`)
  return {
    entries: safeInteger(file, end.getBigUint64(32, true)),
    bytes: safeInteger(file, end.getBigUint64(40, true)),
    start: safeInteger(file, end.getBigUint64(48, true)),
  }
}

function readDirectory(file: string, { start, bytes, entries }: Directory): Record[] {
  const view = new DataView(readBytes(file, start, bytes).buffer)
  const records: Record[] = []
  let at = 0
  for (let i = 0; i < entries; i += 1) {
    const isWhole = at + CENTRAL.bytes <= bytes && view.getUint32(at, true) === CENTRAL.signature
    const next = isWhole ? at + CENTRAL.bytes + variableBytes(view, at + 28, 3) : Infinity
    if (next > bytes) throw new Error(`${file}: its zip directory ends before entry ${i}`)
    records.push(readRecord(file, view, at))
    at = next
  }
  return records
}

/** Returns the sum of adjacent 16-bit lengths. */
function variableBytes(view: DataView, at: number, count: number): number {
  let sum = 0
  for (let i = 0; i < count; i += 1) sum += view.getUint16(at + 2 * i, true)
  return sum
}

function readRecord(file: string, view: DataView, at: number): Record {
  const nameBytes = view.getUint16(at + 28, true)
  const name = decodeText(view, at + CENTRAL.bytes, nameBytes)
  const where = `${file}: entry ${name}`
  if (view.getUint16(at + 8, true) & ENCRYPTED) throw new Error(`${where} is encrypted`)
  const method = view.getUint16(at + 10, true)
  if (method !== 0) throw new Error(`${where} is compressed (method ${method}), not stored`)
  const wide = wideFields(view, at + CENTRAL.bytes + nameBytes, view.getUint16(at + 30, true))
  const field = (offset: number) => {
    const narrow = view.getUint32(at + offset, true)
    if (narrow !== IN_EXTRA) return narrow
    const value = wide.shift()
    if (value === undefined) throw new Error(`${where} lacks a 64-bit size or place`)
    return safeInteger(where, value)
  }
  // in the order of the extra field
  const [bytes, storedBytes, start] = [field(24), field(20), field(42)]
  if (bytes !== storedBytes) throw new Error(`${where} has ${storedBytes} of ${bytes} bytes`)
  return { name, bytes, start, end: start }
}

/** Returns the 64-bit numbers among an entry's extra fields. */
function wideFields(view: DataView, start: number, length: number): bigint[] {
  const end = start + length
  for (let at = start; at + 4 <= end;) {
    const size = view.getUint16(at + 2, true)
    if (view.getUint16(at, true) === EXTRA_64) {
      const count = Math.floor(Math.min(size, end - at - 4) / 8)
      return Array.from({ length: count }, (_, i) => view.getBigUint64(at + 4 + 8 * i, true))
    }
    at += 4 + size
  }
  return []
}

/** Locates the entry's bytes; only its own header tells how long that header is. */
function readEntry(
  file: string,
  record: Record,
  from: number,
  length: number,
  into?: Uint8Array<ArrayBuffer>,
): Uint8Array<ArrayBuffer> {
  const { name, bytes, start, end } = record
  const where = `${file}: entry ${name}`
  if (from + length > bytes) {
    throw new Error(`${where}: bytes ${from} to ${from + length} are not within its ${bytes}`)
  }
  const header = new DataView(readBytes(file, start, LOCAL.bytes).buffer)
  if (header.getUint32(0, true) !== LOCAL.signature) throw new Error(`${where} is not at its place`)
  const dataStart = start + LOCAL.bytes + variableBytes(header, 26, 2)
  if (dataStart + bytes > end) throw new Error(`${where} overlaps what follows it`)
  return readBytes(file, dataStart + from, length, into)
}

const decodeText = (view: DataView, start: number, length: number): string =>
  new TextDecoder().decode(new Uint8Array(view.buffer, view.byteOffset + start, length))

function safeInteger(where: string, value: bigint): number {
  if (value > Number.MAX_SAFE_INTEGER) throw new Error(`${where}: a size of ${value} is impossible`)
  return Number(value)
}
