/** Tensors as files store them: a shape and a type, and numbers that are read when asked for. */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs'

export interface StoredTensor {
  readonly shape: readonly number[]
  /** The type of its numbers as the file calls it; it may be one that can't be read. */
  readonly type: string
  /** How much of the file its numbers take. */
  readonly bytes: number
  /**
   * Reads the numbers from the file; half-width floats are widened.
   * @throws Error naming file and tensor when the type can't be read, or the bytes do not fit it
   */
  values(): Float32Array | Int32Array
}

/** How numbers of one type are laid down, in little-endian order. */
export interface NumberFormat {
  /** Bytes of one number. */
  readonly width: number
  decode(bytes: ArrayBuffer): Float32Array | Int32Array
}

export const float32: NumberFormat = { width: 4, decode: (bytes) => new Float32Array(bytes) }
export const int32: NumberFormat = { width: 4, decode: (bytes) => new Int32Array(bytes) }

/** The upper half of a float32. */
export const bfloat16: NumberFormat = {
  width: 2,
  decode(bytes) {
    const halves = new Uint16Array(bytes)
    const widened = new Uint32Array(halves.length)
    for (let i = 0; i < halves.length; i += 1) widened[i] = halves[i]! << 16
    return new Float32Array(widened.buffer)
  },
}

/** IEEE half precision. */
export const float16: NumberFormat = {
  width: 2,
  decode(bytes) {
    allHalves ??= Float32Array.from({ length: 65_536 }, (_, bits) => widenHalf(bits))
    const halves = new Uint16Array(bytes)
    const widened = new Float32Array(halves.length)
    for (let i = 0; i < halves.length; i += 1) widened[i] = allHalves[halves[i]!]!
    return widened
  },
}

/** What each of the 65,536 patterns stands for: a table is ten times faster than arithmetic. */
let allHalves: Float32Array | undefined

function widenHalf(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1
  const exponent = (bits >> 10) & 0x1f
  const fraction = bits & 0x3ff
  if (exponent === 0) return sign * fraction * 2 ** -24
  if (exponent === 0x1f) return fraction ? Number.NaN : sign * Number.POSITIVE_INFINITY
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15)
}

/** How many numbers a shape holds. */
export const countOf = (shape: readonly number[]): number =>
  shape.reduce((product, size) => product * size, 1)

/** Whether it is a list of whole numbers, none below 0. */
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

/** The system reads no more than 2 GiB at once. */
const READ_BYTES_MAX = 2 ** 30

/** @throws Error naming the file when it ends before `length` bytes are read */
export function readBytes(file: string, position: number, length: number): ArrayBuffer {
  const bytes = new Uint8Array(length)
  const handle = openSync(file, 'r')
  try {
    for (let done = 0; done < length;) {
      const wanted = Math.min(length - done, READ_BYTES_MAX)
      const count = readSync(handle, bytes, done, wanted, position + done)
      if (count === 0) throw new Error(`${file}: cut short at byte ${position + done}`)
      done += count
    }
  } finally {
    closeSync(handle)
  }
  return bytes.buffer
}
