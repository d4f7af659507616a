/** Decodes media in the browser. */

import { readWav, type Samples } from './read-wav.ts'

/**
 * Limit for all lanes together, as 32-bit samples; longer media is played without being decoded.
 */
export const DECODED_BYTES_MAX = 1_500_000_000

/**
 * Decodes to samples at `sampleRate` hertz; at the rate of the file nothing is resampled.
 * @throws Error if this browser cannot read it
 */
export async function decode(bytes: ArrayBuffer, sampleRate: number): Promise<AudioBuffer> {
  const wav = readWav(bytes)
  if (wav?.sampleRate === sampleRate && wav.planes[0]!.length > 0) return bufferOf(wav)
  return new OfflineAudioContext(1, 1, sampleRate).decodeAudioData(bytes)
}

/**
 * A browser's own recordings state no length, but a second of them has at least this many bytes.
 */
const RECORDED_BYTES_OF_SECOND = 8_000

/**
 * Decodes a file if it is short enough; null if it is longer.
 * @throws Error if this browser cannot read it
 */
export async function decodeShort(
  bytes: Blob,
  sampleRate: number,
  secondsMax: number,
): Promise<AudioBuffer | null> {
  const stated = await headerSeconds(bytes)
  const seconds = Number.isFinite(stated) ? stated : bytes.size / RECORDED_BYTES_OF_SECOND
  return seconds > secondsMax ? null : decode(await bytes.arrayBuffer(), sampleRate)
}

/** Some files make a browser neither read a header nor give up. */
const HEADER_MS_MAX = 5_000

/**
 * Returns the length that the header states, in seconds; infinite if it states none.
 * @throws Error if this browser cannot read it
 */
export async function headerSeconds(bytes: Blob): Promise<number> {
  const audio = new Audio()
  audio.src = URL.createObjectURL(bytes)
  try {
    await new Promise((resolve, reject) => {
      audio.onloadedmetadata = resolve
      audio.onerror = () => reject(new Error("This browser can't read it."))
      setTimeout(() => reject(new Error('This browser takes too long to read it.')), HEADER_MS_MAX)
    })
    return audio.duration
  } finally {
    URL.revokeObjectURL(audio.src)
    audio.removeAttribute('src')
    audio.load() // lets go of the file at once
  }
}

function bufferOf({ sampleRate, planes }: Samples): AudioBuffer {
  const [{ length }, numberOfChannels] = [planes[0]!, planes.length]
  const buffer = new AudioBuffer({ length, numberOfChannels, sampleRate })
  for (const [channel, plane] of planes.entries()) buffer.copyToChannel(plane, channel)
  return buffer
}

/** Returns the samples of a buffer, one array for each channel. */
export const planesOf = (buffer: AudioBuffer): Float32Array<ArrayBuffer>[] =>
  Array.from({ length: buffer.numberOfChannels }, (_, channel) => buffer.getChannelData(channel))

/** Yields the buffer second by second, with the sample at which each slice ends. */
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

/**
 * Returns the weighted sum of buffers with the same sample rate; as long and with as many channels
 * as the largest.
 */
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
