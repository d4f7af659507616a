/** A validating reader of safetensors files: a JSON header, then the tensors' bytes. */
import {
  areSizes,
  bfloat16,
  countOf,
  float16,
  float32,
  int32,
  readBytes,
  sizeOfFile,
  type NumberFormat,
  type Scratch,
  type StoredTensor,
} from './stored-tensor.ts'

const FORMATS: Readonly<Record<string, NumberFormat>> = {
  F32: float32,
  F16: float16,
  BF16: bfloat16,
  I32: int32,
}

const HEADER_BYTES_MAX = 64 * 1024 * 1024

/**
 * Returns the tensors of a file by name. Reads only the header; the type and size of a tensor are
 * checked when it is read, since files may contain types that are never used.
 * @throws Error naming the file, and the tensor if it is the cause, if anything is inconsistent
 */
export function openSafetensors(file: string): ReadonlyMap<string, StoredTensor> {
  const { header, dataStart, dataBytes } = readHeader(file)
  const tensors = new Map<string, StoredTensor>()
  for (const [name, entry] of Object.entries(header)) {
    if (name === '__metadata__') continue
    const where = `${file}: tensor ${name}`
    const { type, shape, begin, end } = checkEntry(where, entry, dataBytes)
    const values = (scratch?: Scratch) => {
      const { width, decode } = formatOf(where, type)
      const count = countOf(shape)
      const bytes = count * width
      if (end - begin !== bytes) {
        throw new Error(`${where}: ${type} [${shape}] takes ${bytes} bytes, not ${end - begin}`)
      }
      return decode(
        readBytes(file, dataStart + begin, bytes, scratch?.stored(count, width)),
        scratch,
      )
    }
    tensors.set(name, { shape, type, bytes: end - begin, values })
  }
  return tensors
}

function readHeader(file: string) {
  const fileBytes = sizeOfFile(file)
  if (fileBytes < 8) throw new Error(`${file}: too short for a safetensors file`)
  const headerBytes = Number(new BigUint64Array(readBytes(file, 0, 8).buffer)[0])
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
  if (!areSizes(shape)) throw new Error(`${where}: its shape is not a list of sizes`)
  if (!areSizes(offsets) || offsets.length !== 2) {
    throw new Error(`${where}: its offsets are not two numbers`)
  }
  const [begin, end] = offsets as [number, number]
  if (begin > end || end > dataBytes) {
    throw new Error(`${where}: bytes ${begin} to ${end} are not within the ${dataBytes} of data`)
  }
  return { type: String(dtype), shape, begin, end }
}

function formatOf(where: string, type: string): NumberFormat {
  const format = FORMATS[type]
  if (format) return format
  throw new Error(`${where}: type ${type} is not one of ${Object.keys(FORMATS).join(', ')}`)
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
