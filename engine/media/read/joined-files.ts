/**
 * Finds the parts of a file that consists of several files concatenated byte by byte, such as
 * recordings of web radio (chained Ogg) or the parts written by a recorder. Although each part is a
 * complete file, FFmpeg ignores what follows the first one, or reads it with the first one's rate
 * and channels.
 */

import { open, type FileHandle } from 'node:fs/promises'
import { ServiceError } from '../../../shared/errors.ts'
import { mayBeTransportStream, programmeChange } from './transport-stream.ts'

/** The bytes of a file from `start` up to, but not including, `end`. */
export interface ByteRange {
  start: number
  end: number
}

/** A day of songs of a minute and a half. */
const FILES_MAX = 1_000

/** How many bytes identify the start of a file. A shorter file has no sound. */
const HEAD_BYTES = 64

interface Kind {
  /** The first bytes of a file; if absent, parts are found by `endOf` alone. */
  mark?: Buffer
  /** Whether a file may start with these bytes, which include the mark (default: yes). */
  isStart?(head: Buffer): boolean
  /**
   * Returns the end of the part that begins at `start`, or where it is damaged (default: the next
   * mark).
   */
  endOf?(window: Window, start: number): Promise<number>
}

const markedKind = (mark: string, isStart?: (head: Buffer) => boolean): Kind => ({
  mark: Buffer.from(mark, 'latin1'),
  ...(isStart && { isStart }),
})

const KINDS: readonly Kind[] = [
  { ...markedKind('OggS\0', (head) => (head[5]! & FIRST) !== 0), endOf: endOfOgg },
  { ...markedKind('wvpk', isFirstOfWavPack), endOf: endOfWavPack },
  { isStart: (head) => text(head, 4, 8) === 'ftyp', endOf: endOfMp4 },
  markedKind('fLaC', (head) => (head[4]! & 0x7f) === 0 && head.readUIntBE(5, 3) === 34),
  markedKind('RIFF', (head) => /^(WAVE|AVI )/.test(text(head, 8, 12))),
  markedKind('RF64', (head) => text(head, 8, 12) === 'WAVE'),
  markedKind('riff\x2e\x91\xcf\x11\xa5\xd6\x28\xdb\x04\xc1\0\0'), // W64
  markedKind('FORM', (head) => /^AIF[FC]/.test(text(head, 8, 12))),
  markedKind('caff\0\x01\0\0desc'),
  markedKind('.snd', (head) => isSound(head.readUInt32BE(16), head.readUInt32BE(20))),
  markedKind('TTA1', (head) => isSound(head.readUInt32LE(10), head.readUInt16LE(6))),
  markedKind('\x30\x26\xb2\x75\x8e\x66\xcf\x11\xa6\xd9\0\xaa\0\x62\xce\x6c'), // ASF
  markedKind('\x1a\x45\xdf\xa3', (head) =>
    /\x42\x82[^]{1,8}(matroska|webm)/.test(text(head, 4, 64)),
  ),
  markedKind('FLV\x01', (head) => (head[4]! & ~5) === 0 && head.readUInt32BE(5) === 9),
  // The last one, because its mark is a single byte, which other files contain too.
  { isStart: mayBeTransportStream, endOf: endOfProgramme },
]

const text = (bytes: Buffer, start: number, end: number): string =>
  bytes.toString('latin1', start, end)

/** Whether sound can have this rate and number of channels. */
const isSound = (sampleRate: number, channels: number): boolean =>
  sampleRate >= 1_000 && sampleRate <= 768_000 && channels >= 1 && channels <= 64

/**
 * Returns the parts of a file, in order; empty for a single file, or for a container that handles
 * concatenation by itself, as MP3, AAC and MPEG streams do. A transport stream whose sound or
 * picture is replaced counts as several parts.
 * @throws ServiceError INVALID_MEDIA if there are more than 1,000
 */
export async function joinedFiles(path: string): Promise<ByteRange[]> {
  const file = await open(path)
  try {
    const { size } = await file.stat()
    const starts = await startsOf(new Window(file), size)
    if (starts.length < 2) return []
    return starts.map((start, i) => ({ start, end: starts[i + 1] ?? size }))
  } finally {
    await file.close()
  }
}

async function startsOf(window: Window, size: number): Promise<number[]> {
  const head = await window.at(0, HEAD_BYTES)
  const kind = KINDS.find((kind) => isStartOf(kind, head))
  const starts: number[] = []
  for (let at = 0; kind && at < size;) {
    if (starts.length === FILES_MAX) throw tooMany()
    starts.push(at)
    const end = (await kind.endOf?.(window, at)) ?? at + 1
    at = kind.mark ? await window.find(kind.mark, end, (head) => isStartOf(kind, head)) : end
  }
  return starts
}

const isStartOf = ({ mark, isStart }: Kind, head: Buffer): boolean =>
  head.length === HEAD_BYTES &&
  (!mark || head.subarray(0, mark.length).equals(mark)) &&
  (!isStart || isStart(head))

const tooMany = (): ServiceError =>
  new ServiceError('INVALID_MEDIA', {
    message: `The file consists of more than ${FILES_MAX} files, one after the other; split it.`,
  })

const OGG_HEADER_BYTES = 27
const OGG_SEGMENTS_MAX = 255
/** Flag of an Ogg page: the first page of its stream. */
const FIRST = 2

/** A part begins with the first pages of all its streams; no other pages come before. */
async function endOfOgg(window: Window, start: number): Promise<number> {
  let isBeginning = true
  for (let at = start; ;) {
    const page = await window.at(at, OGG_HEADER_BYTES + OGG_SEGMENTS_MAX)
    if (page.length < OGG_HEADER_BYTES || text(page, 0, 5) !== 'OggS\0') return at
    const isFirst = (page[5]! & FIRST) !== 0
    if (isFirst && !isBeginning) return at
    isBeginning = isFirst
    const sizes = page.subarray(OGG_HEADER_BYTES, OGG_HEADER_BYTES + page[26]!)
    at += OGG_HEADER_BYTES + page[26]! + sizes.reduce((sum, size) => sum + size, 0)
  }
}

/** Flag of a WavPack block: the first of those that are played together. */
const INITIAL = 0x800

/** Whether a block holds the first samples of a file. */
function isFirstOfWavPack(block: Buffer): boolean {
  const index = block.readUInt32LE(16) + block[10]! * 2 ** 32
  return index === 0 && block.readUInt32LE(20) > 0 && (block.readUInt32LE(24) & INITIAL) !== 0
}

async function endOfWavPack(window: Window, start: number): Promise<number> {
  for (let at = start; ;) {
    const block = await window.at(at, HEAD_BYTES)
    if (block.length < HEAD_BYTES || text(block, 0, 4) !== 'wvpk') return at
    if (at > start && isFirstOfWavPack(block)) return at
    at += 8 + block.readUInt32LE(4)
  }
}

/** A part has a box `ftyp` before its `moov`, followed by the boxes of its fragments. */
async function endOfMp4(window: Window, start: number): Promise<number> {
  let hasIndex = false
  for (let at = start; ;) {
    const box = await window.at(at, 16)
    if (box.length < 16) return Infinity
    const type = text(box, 4, 8)
    const shortSize = box.readUInt32BE(0)
    const size = shortSize === 1 ? Number(box.readBigUInt64BE(8)) : shortSize
    if (hasIndex && type === 'ftyp') return at
    if (size < 8) return Infinity // a size of 0 means up to the end
    hasIndex ||= type === 'moov'
    at += size
  }
}

/** A transport stream continues across a joint by itself, unless its streams are replaced there. */
function endOfProgramme(window: Window, start: number): Promise<number> {
  return programmeChange((at, count) => window.from(at, count), start)
}

const READ_BYTES = 2 ** 18

/** Reads a file piece by piece, forwards only. */
class Window {
  readonly #file: FileHandle
  readonly #buffer = Buffer.alloc(READ_BYTES)
  #bytes = this.#buffer.subarray(0, 0)
  #start = 0

  constructor(file: FileHandle) {
    this.#file = file
  }

  /** Returns `count` bytes from `position`, or fewer at the end of the file. */
  async at(position: number, count: number): Promise<Buffer> {
    return (await this.from(position, count)).subarray(0, count)
  }

  /**
   * Returns the next position, from `position` on, of a `mark` whose bytes `accepts` accepts;
   * Infinity if there is none.
   */
  async find(mark: Buffer, position: number, accepts: (head: Buffer) => boolean): Promise<number> {
    for (let at = position; ;) {
      const bytes = await this.from(at, HEAD_BYTES)
      if (bytes.length < HEAD_BYTES) return Infinity
      const last = bytes.length - HEAD_BYTES
      for (let i = bytes.indexOf(mark); i >= 0 && i <= last; i = bytes.indexOf(mark, i + 1)) {
        if (accepts(bytes.subarray(i, i + HEAD_BYTES))) return at + i
      }
      at += last + 1
    }
  }

  /** Returns all buffered bytes from `position` on, at least `count` unless the file ends. */
  async from(position: number, count: number): Promise<Buffer> {
    const isHeld = position >= this.#start && position + count <= this.#start + this.#bytes.length
    if (!isHeld) {
      const { bytesRead } = await this.#file.read(this.#buffer, 0, READ_BYTES, position)
      this.#bytes = this.#buffer.subarray(0, bytesRead)
      this.#start = position
    }
    return this.#bytes.subarray(position - this.#start)
  }
}
