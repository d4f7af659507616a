/** Tensors as stored in files: a shape, a type, and numbers that are read on demand. */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs'

export interface StoredTensor {
  readonly shape: readonly number[]
  /** The type of its numbers, as named in the file; it may be one that cannot be read. */
  readonly type: string
  /** How many bytes of the file its numbers take. */
  readonly bytes: number
  /**
   * Reads the numbers from the file and widens half-precision floats. The caller owns them, unless
   * a scratch is passed.
   * @throws Error naming file and tensor if the type cannot be read, or the bytes do not fit it
   */
  values(scratch?: Scratch): Float32Array | Int32Array
}

/**
 * Memory that tensors are read into again and again, no larger than the largest tensor if that is
 * enough; its content is gone with the next use. If each tensor had fresh memory, it would stay
 * until garbage collection, next to the native library's copy.
 *
 * Stored numbers are placed at its end and widened towards its beginning, where numbers in another
 * layout are placed. The native library does not copy data that starts at a multiple of 64 bytes,
 * but keeps reading it in place, so nothing here starts at one.
 */
export class Scratch {
  #room: ArrayBuffer

  /** @param numbers how many numbers the largest tensor has */
  constructor(numbers: number) {
    this.#room = new ArrayBuffer(bytesFor(numbers))
  }

  /**
   * Returns the bytes for `count` numbers as stored, placed to end where the widened numbers end.
   */
  stored(count: number, width: number): Uint8Array<ArrayBuffer> {
    const start = this.#startOf(count) + (4 - width) * count
    return new Uint8Array(this.#room, start, width * count)
  }

  /** Returns those numbers as float32. */
  widened(count: number): Float32Array<ArrayBuffer> {
    return new Float32Array(this.#room, this.#startOf(count), count)
  }

  /**
   * Returns memory for `count` numbers in another layout, when `stored` of them are read at a time.
   */
  laid(count: number, stored: number): Float32Array<ArrayBuffer> {
    this.#reserve(count + stored)
    return new Float32Array(this.#room, BESIDE, count)
  }

  #startOf(count: number): number {
    this.#reserve(count)
    const last = this.#room.byteLength - 4 * count
    return last - (last % ALIGNMENT) - ALIGNMENT + BESIDE
  }

  #reserve(numbers: number): void {
    if (bytesFor(numbers) > this.#room.byteLength) this.#room = new ArrayBuffer(bytesFor(numbers))
  }
}

/** Memory is allocated in multiples of 16 bytes … */
const ALIGNMENT = 16
/** … and this offset from one is never a multiple of 64. */
const BESIDE = 4

/** Returns the bytes for numbers, including the gaps before and between the two parts. */
const bytesFor = (numbers: number): number => 4 * numbers + 3 * ALIGNMENT

/** How numbers of one type are stored, in little-endian order. */
export interface NumberFormat {
  /** Bytes per number. */
  readonly width: number
  /** Decodes bytes whose start is aligned for four-byte numbers. */
  decode(bytes: Uint8Array<ArrayBuffer>, scratch?: Scratch): Float32Array | Int32Array
}

export const float32: NumberFormat = {
  width: 4,
  decode: ({ buffer, byteOffset, byteLength }) =>
    new Float32Array(buffer, byteOffset, byteLength / 4),
}

export const int32: NumberFormat = {
  width: 4,
  decode: ({ buffer, byteOffset, byteLength }) =>
    new Int32Array(buffer, byteOffset, byteLength / 4),
}

/** The upper half of a float32. */
export const bfloat16: NumberFormat = {
  width: 2,
  decode(bytes, scratch) {
    const halves = halvesOf(bytes)
    const numbers = roomFor(halves.length, scratch)
    const widened = new Uint32Array(numbers.buffer, numbers.byteOffset, halves.length)
    for (let i = 0; i < halves.length; i += 1) widened[i] = halves[i]! << 16
    return numbers
  },
}

/** IEEE half precision. */
export const float16: NumberFormat = {
  width: 2,
  decode(bytes, scratch) {
    allHalves ??= Float32Array.from({ length: 65_536 }, (_, bits) => widenHalf(bits))
    const halves = halvesOf(bytes)
    const widened = roomFor(halves.length, scratch)
    for (let i = 0; i < halves.length; i += 1) widened[i] = allHalves[halves[i]!]!
    return widened
  },
}

const halvesOf = ({ buffer, byteOffset, byteLength }: Uint8Array<ArrayBuffer>): Uint16Array =>
  new Uint16Array(buffer, byteOffset, byteLength / 2)

const roomFor = (count: number, scratch: Scratch | undefined): Float32Array<ArrayBuffer> =>
  scratch?.widened(count) ?? new Float32Array(count)

/** Values of all 65,536 bit patterns, because a table is ten times faster than arithmetic. */
let allHalves: Float32Array | undefined

function widenHalf(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1
  const exponent = (bits >> 10) & 0x1f
  const fraction = bits & 0x3ff
  if (exponent === 0) return sign * fraction * 2 ** -24
  if (exponent === 0x1f) return fraction ? Number.NaN : sign * Number.POSITIVE_INFINITY
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15)
}

/** Returns how many numbers a shape holds. */
export const countOf = (shape: readonly number[]): number =>
  shape.reduce((product, size) => product * size, 1)

/** Whether this is a list of non-negative integers. */
export const areSizes = (value: unknown): value is number[] =>
  Array.isArray(value) && value.every((size) => Number.isSafeInteger(size) && size >= 0)

export function sizeOfFile(file: string): number {
  const handle = openSync(file, 'r')
  try {
    return fstatSync(handle).size
  } finally {
    closeSync(handle)
  }
}

/** The operating system reads at most 2 GiB at once. */
const READ_BYTES_MAX = 2 ** 30

/** @throws Error naming the file if it ends before `length` bytes have been read into `bytes` */
export function readBytes(
  file: string,
  position: number,
  length: number,
  bytes = new Uint8Array(length),
): Uint8Array<ArrayBuffer> {
  const handle = openSync(file, 'r')
  try {
    for (let done = 0; done < length;) {
      const bytesMax = Math.min(length - done, READ_BYTES_MAX)
      const count = readSync(handle, bytes, done, bytesMax, position + done)
      if (count === 0) throw new Error(`${file}: cut short at byte ${position + done}`)
      done += count
    }
  } finally {
    closeSync(handle)
  }
  return bytes
}
