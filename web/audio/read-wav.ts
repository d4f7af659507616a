/**
 * Reads WAV files sample by sample. Browsers can read them too, but Chromium scales the positive
 * and negative samples of 16-bit files differently, so that no null test would get below -93 dB.
 */

export interface Samples {
  sampleRate: number
  /** One array for each channel. */
  planes: Float32Array<ArrayBuffer>[]
}

const PCM = 1
const FLOAT = 3
const EXTENSIBLE = 0xfffe

type ReadSample = (view: DataView, offset: number) => number

/** By format and number of bits. */
const READERS: Readonly<Record<string, ReadSample>> = {
  [`${PCM} 16`]: (view, offset) => view.getInt16(offset, true) / 2 ** 15,
  [`${PCM} 24`]: (view, offset) =>
    (view.getUint16(offset, true) + view.getInt8(offset + 2) * 2 ** 16) / 2 ** 23,
  [`${PCM} 32`]: (view, offset) => view.getInt32(offset, true) / 2 ** 31,
  [`${FLOAT} 32`]: (view, offset) => view.getFloat32(offset, true),
}

interface Format {
  read: ReadSample
  channels: number
  sampleRate: number
  sampleBytes: number
}

/** Returns null if this is not a WAV file, or has another format. */
export function readWav(bytes: ArrayBuffer): Samples | null {
  const view = new DataView(bytes)
  if (bytes.byteLength < 12 || tag(view, 0) !== 'RIFF' || tag(view, 8) !== 'WAVE') return null
  let format: Format | null = null
  for (let offset = 12; offset + 8 <= bytes.byteLength;) {
    const [name, size] = [tag(view, offset), view.getUint32(offset + 4, true)]
    const start = offset + 8
    if (name === 'fmt ' && start + 16 <= bytes.byteLength) format = readFormat(view, start, size)
    if (name === 'data') return format && readSamples(view, start, size, format)
    offset = start + size + (size % 2)
  }
  return null
}

const tag = (view: DataView, offset: number): string =>
  String.fromCharCode(...[0, 1, 2, 3].map((i) => view.getUint8(offset + i)))

function readFormat(view: DataView, start: number, size: number): Format | null {
  const named = view.getUint16(start, true)
  const isExtensible = named === EXTENSIBLE && size >= 26 && start + 26 <= view.byteLength
  const format = isExtensible ? view.getUint16(start + 24, true) : named
  const bits = view.getUint16(start + 14, true)
  const read = READERS[`${format} ${bits}`]
  const channels = view.getUint16(start + 2, true)
  const sampleRate = view.getUint32(start + 4, true)
  return read && channels > 0 ? { read, channels, sampleRate, sampleBytes: bits / 8 } : null
}

function readSamples(view: DataView, start: number, size: number, format: Format): Samples {
  const { read, channels, sampleRate, sampleBytes } = format
  const end = Math.min(start + size, view.byteLength) // streamed files state no size
  const length = Math.floor((end - start) / sampleBytes / channels)
  const planes = Array.from({ length: channels }, () => new Float32Array(length))
  for (let i = 0, offset = start; i < length; i += 1) {
    for (const plane of planes) {
      plane[i] = read(view, offset)
      offset += sampleBytes
    }
  }
  return { sampleRate, planes }
}
