/**
 * Finds the links of a chained Ogg, as recordings of web radio are: several streams one after the
 * other in one file. FFmpeg loses what follows a change of rate or channels, and counts samples of
 * a joint twice; each link by itself is a whole file.
 */

import { open, type FileHandle } from 'node:fs/promises'

/** Bytes of a file from `start` up to, without, `end`. */
export interface ByteRange {
  start: number
  end: number
}

/** A day of songs of a minute and a half; what follows belongs to the last. */
const LINKS_MAX = 1_000

const READ_BYTES = 64 * 1_024
const HEADER_BYTES = 27
const SEGMENTS_MAX = 255
const MARK = Buffer.from('OggS\0')
/** Of a page: the first of its stream. */
const FIRST = 2

/** The links of an Ogg file in their order; none for a file that is no Ogg, or has one link. */
export async function oggLinks(path: string): Promise<ByteRange[]> {
  const file = await open(path)
  try {
    const { size } = await file.stat()
    const starts = await startsOf(file)
    if (starts.length < 2) return []
    return starts.map((start, i) => ({ start, end: starts[i + 1] ?? size }))
  } finally {
    await file.close()
  }
}

/** A link begins with the first pages of its streams: pages of no other kind are before them. */
async function startsOf(file: FileHandle): Promise<number[]> {
  const window = new Window(file)
  const starts: number[] = []
  let wasFirst = false
  for (let at = 0; starts.length < LINKS_MAX;) {
    const head = await window.at(at, HEADER_BYTES + SEGMENTS_MAX)
    if (head.length < HEADER_BYTES || (at === 0 && !isPage(head))) return starts
    if (!isPage(head)) {
      at = await window.find(MARK, at + 1)
      wasFirst = false
      continue
    }
    const isFirst = (head[5]! & FIRST) !== 0
    if (isFirst && !wasFirst) starts.push(at)
    wasFirst = isFirst
    at += pageBytes(head)
  }
  return starts
}

const isPage = (head: Buffer): boolean => head.subarray(0, MARK.length).equals(MARK)

function pageBytes(head: Buffer): number {
  const segments = head[26]!
  const sizes = head.subarray(HEADER_BYTES, HEADER_BYTES + segments)
  return HEADER_BYTES + segments + sizes.reduce((sum, size) => sum + size, 0)
}

/** Reads a file piece by piece, forwards. */
class Window {
  readonly #file: FileHandle
  readonly #buffer = Buffer.alloc(READ_BYTES)
  #bytes = this.#buffer.subarray(0, 0)
  #start = 0

  constructor(file: FileHandle) {
    this.#file = file
  }

  /** So many bytes from `position`, fewer at the end of the file. */
  async at(position: number, count: number): Promise<Buffer> {
    const isHeld = position >= this.#start && position + count <= this.#start + this.#bytes.length
    if (!isHeld) {
      const { bytesRead } = await this.#file.read(this.#buffer, 0, READ_BYTES, position)
      this.#bytes = this.#buffer.subarray(0, bytesRead)
      this.#start = position
    }
    const from = position - this.#start
    return this.#bytes.subarray(from, from + count)
  }

  /** Where `mark` is next; the end of the file where it is no more. */
  async find(mark: Buffer, position: number): Promise<number> {
    for (let at = position; ;) {
      const bytes = await this.at(at, READ_BYTES)
      const found = bytes.indexOf(mark)
      if (found >= 0) return at + found
      if (bytes.length < READ_BYTES) return at + bytes.length
      at += READ_BYTES - mark.length + 1
    }
  }
}
