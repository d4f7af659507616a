/**
 * A segment of a checkpoint: a file of named entries. Every entry has its own checksum, and the
 * first one says which work the others belong to, so that damaged, incomplete or foreign data is
 * never taken for a result.
 *
 * An entry consists of the lengths of its name and body (two 32-bit numbers, little-endian), the
 * SHA-256 of both, the name, and the body.
 */

import { createHash } from 'node:crypto'
import { open, type FileHandle } from 'node:fs/promises'
import { deserialize, serialize } from 'node:v8'
import { withOwnMemory } from '../../threads/own-memory.ts'

const DIGEST_BYTES = 32
const HEAD_BYTES = 8 + DIGEST_BYTES
/** A longer name cannot be one of our entries. */
const NAME_BYTES_MAX = 256
/** Name of the first entry. */
const WORK = 'work'

/** An entry as stored in a file. */
export type EntryBytes = readonly Uint8Array[]

/** @param value anything that can be sent to another thread; it is copied */
export function encodeEntry(name: string, value: unknown): EntryBytes {
  const [label, body] = [Buffer.from(name), serialize(value)]
  const lengths = Buffer.alloc(8)
  lengths.writeUInt32LE(label.length, 0)
  lengths.writeUInt32LE(body.length, 4)
  return [lengths, digestOf(label, body), label, body]
}

export const bytesOf = (entry: EntryBytes): number =>
  entry.reduce((sum, { byteLength }) => sum + byteLength, 0)

const digestOf = (label: Uint8Array, body: Uint8Array): Buffer =>
  createHash('sha256').update(label).update(body).digest()

/** Writes a segment; calls may overlap. */
export class SegmentWriter {
  readonly path: string
  /** Size of the entries added so far. */
  bytes = 0
  readonly #file: Promise<FileHandle>
  #written: Promise<unknown>

  /** @param work what the entries belong to */
  constructor(path: string, work: string) {
    this.path = path
    this.#written = this.#file = open(path, 'w')
    void this.add(encodeEntry(WORK, work)).catch(() => undefined) // the next call throws the error
  }

  /** @throws Error if the disk is full */
  add(entry: EntryBytes): Promise<void> {
    const position = this.bytes
    this.bytes += bytesOf(entry)
    const written = this.#written.then(async () => {
      let at = position
      for (const part of entry) {
        await (await this.#file).write(part, 0, part.byteLength, at)
        at += part.byteLength
      }
    })
    this.#written = written
    return written
  }

  /**
   * Completes the file.
   * @throws Error if an entry was not written
   */
  async close(): Promise<void> {
    try {
      await this.#written
    } finally {
      await (await this.#file).close()
    }
  }
}

/** The location of an entry. */
export interface StoredEntry {
  path: string
  name: string
  /** Offset of its header in bytes. */
  position: number
}

/**
 * Lists the entries of a file, up to the first incomplete one.
 * @returns null if the file is not a segment, or belongs to other work
 */
export async function listEntries(path: string, work: string): Promise<StoredEntry[] | null> {
  const file = await open(path, 'r')
  try {
    const { size } = await file.stat()
    const entries: StoredEntry[] = []
    for (let position = 0; ;) {
      const head = await readHead(file, position, size)
      if (!head) break
      entries.push({ path, name: head.name, position })
      position = head.end
    }
    const [first, ...others] = entries
    const isOurs = first?.name === WORK && (await readEntry(first)) === work
    return isOurs ? others : null
  } finally {
    await file.close()
  }
}

/** Returns the value of an entry; undefined if it is damaged. */
export async function readEntry({ path, position }: StoredEntry): Promise<unknown> {
  const file = await open(path, 'r')
  try {
    const { size } = await file.stat()
    const head = await readHead(file, position, size)
    if (!head) return undefined
    const body = await readBytes(file, head.bodyPosition, head.end - head.bodyPosition)
    const isWhole = digestOf(Buffer.from(head.name), body).equals(head.digest)
    return isWhole ? withOwnMemory(deserialize(body)) : undefined
  } finally {
    await file.close()
  }
}

interface Head {
  name: string
  digest: Buffer
  bodyPosition: number
  end: number
}

/** Undefined at the end of the file, or if no complete entry follows. */
async function readHead(file: FileHandle, position: number, size: number) {
  if (position + HEAD_BYTES > size) return undefined
  const head = await readBytes(file, position, HEAD_BYTES)
  const [nameBytes, bodyBytes] = [head.readUInt32LE(0), head.readUInt32LE(4)]
  const bodyPosition = position + HEAD_BYTES + nameBytes
  if (nameBytes > NAME_BYTES_MAX || bodyPosition + bodyBytes > size) return undefined
  const name = await readBytes(file, position + HEAD_BYTES, nameBytes)
  return {
    name: name.toString(),
    digest: head.subarray(8),
    bodyPosition,
    end: bodyPosition + bodyBytes,
  } satisfies Head
}

async function readBytes(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const bytes = Buffer.allocUnsafeSlow(length)
  const { bytesRead } = await file.read(bytes, 0, length, position)
  if (bytesRead < length) throw new Error('a segment of a checkpoint became shorter')
  return bytes
}
