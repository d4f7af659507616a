/**
 * Writes tensors to a safetensors file, one after the other, so that only the largest must fit in
 * memory.
 */
import { open } from 'node:fs/promises'
import { roundToHalf } from './half.ts'
import { countOf, type StoredTensor } from './stored-tensor.ts'

/** The precision in which numbers are stored. */
type StoredWidth = 'float32' | 'float16'

const WIDTHS = { float32: { dtype: 'F32', bytes: 4 }, float16: { dtype: 'F16', bytes: 2 } } as const

/** Headers are padded with spaces to a multiple of this many bytes. */
const ALIGNMENT = 8

/**
 * Writes `tensors` in order, rounded to `width`, and waits until they are on the disk.
 * @throws Error from the file system (ENOSPC …), or naming a tensor that cannot be read
 */
export async function writeSafetensors(
  path: string,
  tensors: ReadonlyMap<string, StoredTensor>,
  width: StoredWidth,
): Promise<void> {
  const file = await open(path, 'wx')
  try {
    await file.write(headerOf(tensors, width))
    for (const { values } of tensors.values()) await file.write(rounded(values(), width))
    await file.sync()
  } finally {
    await file.close()
  }
}

function headerOf(tensors: ReadonlyMap<string, StoredTensor>, width: StoredWidth): Buffer {
  const { dtype, bytes } = WIDTHS[width]
  let end = 0
  const entries = [...tensors].map(([name, { shape }]) => {
    const begin = end
    end += countOf(shape) * bytes
    return [name, { dtype, shape, data_offsets: [begin, end] }] as const
  })
  const json = JSON.stringify(Object.fromEntries(entries))
  const text = Buffer.from(json.padEnd(ALIGNMENT * Math.ceil(json.length / ALIGNMENT)))
  const length = Buffer.alloc(8)
  length.writeBigUInt64LE(BigInt(text.length))
  return Buffer.concat([length, text])
}

function rounded(values: Float32Array | Int32Array, width: StoredWidth): Uint8Array {
  const numbers = values instanceof Float32Array ? values : Float32Array.from(values)
  if (width === 'float32') return bytesOf(numbers)
  const words = new Uint16Array(numbers.length)
  roundToHalf(numbers, words)
  return bytesOf(words)
}

const bytesOf = ({ buffer, byteOffset, byteLength }: Float32Array | Uint16Array): Uint8Array =>
  new Uint8Array(buffer, byteOffset, byteLength)
