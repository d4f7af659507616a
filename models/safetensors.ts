/** A checked reader of safetensors files: a JSON header, then the tensors' bytes. */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs'

export interface StoredTensor {
  readonly shape: readonly number[]
  /** Reads the numbers from the file; half-width floats are widened. */
  values(): Float32Array | Int32Array
}

type Decode = (bytes: ArrayBuffer) => Float32Array | Int32Array

const FORMATS: Readonly<Record<string, { width: number; decode: Decode }>> = {
  F32: { width: 4, decode: (bytes) => new Float32Array(bytes) },
  F16: { width: 2, decode: (bytes) => Float32Array.from(new Uint16Array(bytes), float16) },
  BF16: { width: 2, decode: widenBfloat16 },
  I32: { width: 4, decode: (bytes) => new Int32Array(bytes) },
}

const HEADER_BYTES_MAX = 64 * 1024 * 1024

/**
 * The tensors of a file by name. Only the header is read here; a tensor's type and size are checked
 * when it is asked for, since files may hold types that nobody reads.
 * @throws Error naming the file, and the tensor if it is to blame, when anything does not fit
 */
export function openSafetensors(file: string): ReadonlyMap<string, StoredTensor> {
  const { header, dataStart, dataBytes } = readHeader(file)
  const tensors = new Map<string, StoredTensor>()
  for (const [name, entry] of Object.entries(header)) {
    if (name === '__metadata__') continue
    const where = `${file}: tensor ${name}`
    const { dtype, shape, begin, end } = checkEntry(where, entry, dataBytes)
    const values = () => {
      const { width, decode } = formatOf(where, dtype)
      const bytes = shape.reduce((product, size) => product * size, width)
      if (end - begin !== bytes) {
        throw new Error(`${where}: ${dtype} [${shape}] takes ${bytes} bytes, not ${end - begin}`)
      }
      return decode(readBytes(file, dataStart + begin, bytes))
    }
    tensors.set(name, { shape, values })
  }
  return tensors
}

function readHeader(file: string) {
  const fileBytes = sizeOf(file)
  if (fileBytes < 8) throw new Error(`${file}: too short for a safetensors file`)
  const headerBytes = Number(new BigUint64Array(readBytes(file, 0, 8))[0])
  const dataStart = 8 + headerBytes
  if (headerBytes > HEADER_BYTES_MAX || dataStart > fileBytes) {
    throw new Error(`${file}: not a safetensors file, or cut short within its header`)
  }
  const text = new TextDecoder().decode(readBytes(file, 8, headerBytes))
  const header = parseObject(file, text)
  return { header, dataStart, dataBytes: fileBytes - dataStart }
}

function parseObject(file: string, text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text)
    if (isObject(value)) return value
  } catch {
    // falls through to the one error below
  }
  throw new Error(`${file}: the safetensors header is not a JSON object`)
}

function checkEntry(where: string, entry: unknown, dataBytes: number) {
  if (!isObject(entry)) throw new Error(`${where}: its header entry is not an object`)
  const { dtype, shape, data_offsets: offsets } = entry
  if (!isSizes(shape)) throw new Error(`${where}: its shape is not a list of sizes`)
  if (!isSizes(offsets) || offsets.length !== 2) {
    throw new Error(`${where}: its offsets are not two numbers`)
  }
  const [begin, end] = offsets as [number, number]
  if (begin > end || end > dataBytes) {
    throw new Error(`${where}: bytes ${begin} to ${end} are not within the ${dataBytes} of data`)
  }
  return { dtype: String(dtype), shape, begin, end }
}

function formatOf(where: string, dtype: string) {
  const format = FORMATS[dtype]
  if (format) return format
  throw new Error(`${where}: type ${dtype} is not one of ${Object.keys(FORMATS).join(', ')}`)
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const isSizes = (value: unknown): value is number[] =>
  Array.isArray(value) && value.every((size) => Number.isSafeInteger(size) && size >= 0)

function sizeOf(file: string): number {
  const handle = openSync(file, 'r')
  try {
    return fstatSync(handle).size
  } finally {
    closeSync(handle)
  }
}

function readBytes(file: string, position: number, length: number): ArrayBuffer {
  const bytes = new Uint8Array(length)
  const handle = openSync(file, 'r')
  try {
    for (let done = 0; done < length;) {
      const count = readSync(handle, bytes, done, length - done, position + done)
      if (count === 0) throw new Error(`${file}: cut short at byte ${position + done}`)
      done += count
    }
  } finally {
    closeSync(handle)
  }
  return bytes.buffer
}

/** IEEE half precision from its 16 bits. */
function float16(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1
  const exponent = (bits >> 10) & 0x1f
  const fraction = bits & 0x3ff
  if (exponent === 0) return sign * fraction * 2 ** -24
  if (exponent === 0x1f) return fraction ? Number.NaN : sign * Number.POSITIVE_INFINITY
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15)
}

function widenBfloat16(bytes: ArrayBuffer): Float32Array {
  const widened = Uint32Array.from(new Uint16Array(bytes), (bits) => bits << 16)
  return new Float32Array(widened.buffer)
}
