/** Writes zip archives of uncompressed entries; on request, invalid ones too. */
import { closeSync, openSync, writeSync } from 'node:fs'

export interface Entry {
  name: string
  data: Uint8Array
  /** Number of zeros before `data`; they take no space on file systems with sparse files. */
  gap?: number
  /** False statements about the entry. */
  claims?: { bytes?: number; storedBytes?: number; start?: number; method?: number; flags?: number }
}

export interface ZipOptions {
  /** Always writes 64-bit fields, even where they are not needed. */
  wide?: boolean
  /** Bytes of padding in each local header, with which torch aligns storages. */
  padding?: number
  comment?: string
}

const NARROW_MAX = 0xffffffff

export function writeZip(file: string, entries: readonly Entry[], options: ZipOptions = {}): void {
  const handle = openSync(file, 'w')
  let at = 0
  const write = (bytes: Uint8Array) => {
    if (bytes.length > 0) writeSync(handle, bytes, 0, bytes.length, at)
    at += bytes.length
  }
  const directory: Buffer[] = []
  for (const entry of entries) {
    directory.push(centralHeader(entry, at, options))
    write(localHeader(entry, options))
    at += entry.gap ?? 0
    write(entry.data)
  }
  const start = at
  const central = Buffer.concat(directory)
  write(central)
  write(endRecord(entries.length, central.length, start, options))
  closeSync(handle)
}

function localHeader({ name }: Entry, { padding = 0 }: ZipOptions): Buffer {
  const extra = padding < 4 ? Buffer.alloc(0) : Buffer.alloc(padding)
  if (extra.length > 0) extra.writeUInt16LE(extra.length - 4, 2)
  const header = Buffer.alloc(30) // the local header's sizes stay 0, because only those in the directory count
  header.writeUInt32LE(0x04034b50, 0)
  header.writeUInt16LE(Buffer.byteLength(name), 26)
  header.writeUInt16LE(extra.length, 28)
  return Buffer.concat([header, Buffer.from(name), extra])
}

function centralHeader(
  { name, data, gap = 0, claims = {} }: Entry,
  at: number,
  { wide }: ZipOptions,
) {
  const bytes = claims.bytes ?? gap + data.length
  const numbers = [bytes, claims.storedBytes ?? bytes, claims.start ?? at]
  const isWide = numbers.map((number) => wide === true || number >= NARROW_MAX)
  const words = numbers.filter((_, i) => isWide[i])
  const extra = Buffer.alloc(words.length === 0 ? 0 : 4 + 8 * words.length)
  if (words.length > 0) {
    extra.writeUInt16LE(1, 0)
    extra.writeUInt16LE(8 * words.length, 2)
    words.forEach((word, i) => extra.writeBigUInt64LE(BigInt(word), 4 + 8 * i))
  }
  const header = Buffer.alloc(46)
  header.writeUInt32LE(0x02014b50, 0)
  header.writeUInt16LE(claims.flags ?? 0, 8)
  header.writeUInt16LE(claims.method ?? 0, 10)
  const narrow = numbers.map((number, i) => (isWide[i] ? NARROW_MAX : number))
  header.writeUInt32LE(narrow[1]!, 20)
  header.writeUInt32LE(narrow[0]!, 24)
  header.writeUInt16LE(Buffer.byteLength(name), 28)
  header.writeUInt16LE(extra.length, 30)
  header.writeUInt32LE(narrow[2]!, 42)
  return Buffer.concat([header, Buffer.from(name), extra])
}

function endRecord(
  count: number,
  bytes: number,
  start: number,
  { wide, comment = '' }: ZipOptions,
) {
  const end = Buffer.alloc(22)
  end.writeUInt32LE(0x06054b50, 0)
  end.writeUInt16LE(Math.min(count, 0xffff), 10)
  end.writeUInt32LE(bytes, 12)
  end.writeUInt32LE(Math.min(start, NARROW_MAX), 16)
  end.writeUInt16LE(Buffer.byteLength(comment), 20)
  const isWide = wide === true || start >= NARROW_MAX || count >= 0xffff
  return Buffer.concat([...(isWide ? wideEnd(count, bytes, start) : []), end, Buffer.from(comment)])
}

function wideEnd(count: number, bytes: number, start: number): Buffer[] {
  const end = Buffer.alloc(56)
  end.writeUInt32LE(0x06064b50, 0)
  const fields = [
    [32, count],
    [40, bytes],
    [48, start],
  ] as const
  for (const [offset, value] of fields) end.writeBigUInt64LE(BigInt(value), offset)
  const locator = Buffer.alloc(20)
  locator.writeUInt32LE(0x07064b50, 0)
  locator.writeBigUInt64LE(BigInt(start + bytes), 8)
  return [end, locator]
}
