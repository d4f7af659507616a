/** Decodes media in the browser. */

import { readWav, type Samples } from './read-wav.ts'

/**
 * Limit for all lanes together, as 32-bit samples: longer media is played without being decoded.
 */
export const DECODED_BYTES_MAX = 1_500_000_000

/**
 * Samples at `sampleRate` in Hz: at the rate of the file nothing is resampled.
 * @throws Error when this browser can't read it
 */
export async function decode(bytes: ArrayBuffer, sampleRate: number): Promise<AudioBuffer> {
  const wav = readWav(bytes)
  if (wav?.sampleRate === sampleRate && wav.planes[0]!.length > 0) return bufferOf(wav)
  return new OfflineAudioContext(1, 1, sampleRate).decodeAudioData(bytes)
}

/** A browser's own recordings state no length, but have more bytes than this for a second. */
const RECORDED_BYTES_OF_SECOND = 8_000

/**
 * Decodes a file that is short enough. Null: it is longer, and was not decoded.
 * @throws Error when this browser can't read it
 */
export async function decodeShort(
  bytes: Blob,
  sampleRate: number,
  secondsMax: number,
): Promise<AudioBuffer | null> {
  const stated = await statedSeconds(bytes)
  const seconds = Number.isFinite(stated) ? stated : bytes.size / RECORDED_BYTES_OF_SECOND
  return seconds > secondsMax ? null : decode(await bytes.arrayBuffer(), sampleRate)
}

/** The length by the head of the file. @throws Error when this browser can't read it */
async function statedSeconds(bytes: Blob): Promise<number> {
  const audio = new Audio()
  audio.src = URL.createObjectURL(bytes)
  try {
    await new Promise((resolve, reject) => {
      audio.onloadedmetadata = resolve
      audio.onerror = () => reject(new Error("This browser can't read it."))
    })
    return audio.duration
  } finally {
    URL.revokeObjectURL(audio.src)
    audio.removeAttribute('src')
  }
}

function bufferOf({ sampleRate, planes }: Samples): AudioBuffer {
  const [{ length }, numberOfChannels] = [planes[0]!, planes.length]
  const buffer = new AudioBuffer({ length, numberOfChannels, sampleRate })
  for (const [channel, plane] of planes.entries()) buffer.copyToChannel(plane, channel)
  return buffer
}

/** The planes of a buffer. */
export const planesOf = (buffer: AudioBuffer): Float32Array<ArrayBuffer>[] =>
  Array.from({ length: buffer.numberOfChannels }, (_, channel) => buffer.getChannelData(channel))

/** The buffer second by second, and the sample at which each ends. */
export function* slicesOf(buffer: AudioBuffer): Generator<{ slice: AudioBuffer; end: number }> {
  const { sampleRate, numberOfChannels, length } = buffer
  const planes = planesOf(buffer)
  for (let start = 0; start < length; start += sampleRate) {
    const end = Math.min(length, start + sampleRate)
    const slice = new AudioBuffer({ length: end - start, numberOfChannels, sampleRate })
    for (const [channel, plane] of planes.entries()) {
      slice.copyToChannel(plane.subarray(start, end), channel)
    }
    yield { slice, end }
  }
}

/** The weighted sum of buffers of one rate; as long and as wide as the largest. */
export function sum(parts: readonly { buffer: AudioBuffer; gain: number }[]): Promise<AudioBuffer> {
  const buffers = parts.map(({ buffer }) => buffer)
  const context = new OfflineAudioContext({
    numberOfChannels: Math.max(...buffers.map(({ numberOfChannels }) => numberOfChannels)),
    length: Math.max(...buffers.map(({ length }) => length)),
    sampleRate: buffers[0]!.sampleRate,
  })
  for (const { buffer, gain } of parts) {
    const node = new GainNode(context, { gain })
    const player = new AudioBufferSourceNode(context, { buffer })
    player.connect(node).connect(context.destination)
    player.start()
  }
  return context.startRendering()
}
