/**
 * Makes files from outputs and mixes piece by piece, so that a file is never whole in memory.
 * Loaded on demand, because the encoders are larger than the page.
 */

import {
  AudioBufferSource,
  BlobSource,
  Conversion,
  FLAC,
  FlacOutputFormat,
  Input,
  MP3,
  MP4,
  Mp3OutputFormat,
  Mp4OutputFormat,
  Output,
  StreamTarget,
  UrlSource,
  WAVE,
  WavOutputFormat,
  type AudioEncodingConfig,
  type OutputFormat,
  type Source,
  type StreamTargetChunk,
} from 'mediabunny'
import { slicesOf } from './decode.ts'

export type SoundFormat = 'wav' | 'flac' | 'mp3'

/** Larger WAV files are written as RF64, whose size field is wider. */
const WAV_BYTES_MAX = 2 ** 32
const WAV_SAMPLE_BYTES = 3
const MP3_BITS_PER_SECOND = 256_000
/** Per channel, as in the service's files. */
const AAC_BITS_PER_SECOND = 128_000
/** The AAC encoder puts this many samples of silence before the sound. */
const AAC_SAMPLES_BEFORE = 1_024

export interface ConvertOptions {
  signal: AbortSignal
  /** Receives the completed share, from 0 to 1. */
  onProgress(part: number): void
}

/**
 * Writes a buffer, or the sound at an address, in a format.
 * @throws Error if this browser cannot do it, or the media no longer exists
 */
export async function convert(
  media: string | AudioBuffer,
  format: SoundFormat,
  options: ConvertOptions,
): Promise<Blob> {
  if (format === 'flac') (await import('@mediabunny/flac-encoder')).registerFlacEncoder()
  if (format === 'mp3') (await import('@mediabunny/mp3-encoder')).registerMp3Encoder()
  if (typeof media === 'string') return convertFile(new UrlSource(media), format, options)
  if (format === 'flac') {
    // its encoder cuts off what is finer than 24 bits, which WAV rounds
    const wav = await convert(media, 'wav', { ...options, onProgress: () => {} })
    return convertFile(new BlobSource(wav), format, options)
  }
  return makeFile(formatOf(format), async (output) => {
    const source = new AudioBufferSource(ENCODINGS[format])
    output.addAudioTrack(source)
    await output.start()
    await addSound(source, media, options)
    await output.finalize()
  })
}

async function convertFile(
  source: Source,
  format: SoundFormat,
  { signal, onProgress }: ConvertOptions,
): Promise<Blob> {
  const input = new Input({ source, formats: [WAVE, FLAC, MP3] })
  try {
    return await makeFile(formatOf(format, await isLargeAsWav(input)), async (output) => {
      const conversion = await Conversion.init({ input, output, audio: ENCODINGS[format] })
      if (!conversion.isValid) {
        const [discarded] = conversion.discardedTracks
        throw new Error(`This browser can't make it: ${discarded?.reason ?? 'there is no sound'}.`)
      }
      conversion.onProgress = onProgress
      signal.throwIfAborted()
      const cancel = () => void conversion.cancel()
      signal.addEventListener('abort', cancel, { once: true })
      await conversion.execute()
    })
  } finally {
    input.dispose()
  }
}

/**
 * Replaces the sound of an MP4 and copies its picture.
 * @throws Error if this browser cannot copy it, or the media no longer exists
 */
export async function withSound(
  video: string,
  sound: AudioBuffer,
  options: ConvertOptions,
): Promise<Blob> {
  const { registerAacEncoder } = await import('@mediabunny/aac-encoder')
  registerAacEncoder()
  const input = new Input({ source: new UrlSource(video), formats: [MP4] })
  try {
    return await makeFile(new Mp4OutputFormat({ fastStart: false }), async (output) => {
      const copying = await Conversion.init({
        input,
        output,
        composable: true,
        copy: { mode: 'forced' },
        trim: { start: 0 },
        audio: { discard: true },
      })
      const failed = copying.discardedTracks.find(({ track }) => track.isVideoTrack())
      if (failed) {
        throw new Error(
          `This browser can't copy its picture (${failed.reason}). ` +
            'At a strength of 100 % you get the file of the service.',
        )
      }
      const source = new AudioBufferSource(
        { codec: 'aac', bitrate: AAC_BITS_PER_SECOND * sound.numberOfChannels },
        { startTimestamp: -AAC_SAMPLES_BEFORE / sound.sampleRate },
      )
      output.addAudioTrack(source)
      output.setMetadataTags(await input.getMetadataTags())
      await output.start()
      await Promise.all([copying.execute(), addSound(source, sound, options)])
      await output.finalize()
    })
  } finally {
    input.dispose()
  }
}

/** Samples keep their 24 bits in WAV and FLAC. */
const ENCODINGS: Readonly<Record<SoundFormat, AudioEncodingConfig>> = {
  wav: { codec: 'pcm-s24' },
  flac: { codec: 'flac' },
  mp3: { codec: 'mp3', bitrate: MP3_BITS_PER_SECOND },
}

function formatOf(format: SoundFormat, isLarge = false): OutputFormat {
  if (format === 'flac') return new FlacOutputFormat()
  if (format === 'mp3') return new Mp3OutputFormat()
  return new WavOutputFormat({ large: isLarge })
}

async function isLargeAsWav(input: Input): Promise<boolean> {
  const track = await input.getPrimaryAudioTrack()
  if (!track) return false
  const samples = (await track.computeDuration()) * track.sampleRate * track.numberOfChannels
  return samples * WAV_SAMPLE_BYTES >= WAV_BYTES_MAX
}

/**
 * Makes a file, and releases the encoders if that fails.
 * @param write fills the output and finalizes it
 */
async function makeFile(
  format: OutputFormat,
  write: (output: Output) => Promise<void>,
): Promise<Blob> {
  const collected = new CollectedBlob()
  const target = new StreamTarget(collected.writable, { chunked: true })
  const output = new Output({ format, target })
  try {
    await write(output)
    return collected.blob(format.mimeType)
  } catch (error) {
    await output.cancel()
    throw error
  }
}

/** Encodes a buffer second by second. */
async function addSound(
  source: AudioBufferSource,
  sound: AudioBuffer,
  { signal, onProgress }: ConvertOptions,
): Promise<void> {
  for (const { slice, end } of slicesOf(sound)) {
    signal.throwIfAborted()
    await source.add(slice)
    onProgress(end / sound.length)
  }
  source.close()
}

/**
 * Collects the pieces of a file, which the browser may keep on disk. Late pieces correct the
 * header.
 */
class CollectedBlob {
  readonly #parts: Blob[] = []
  readonly #corrections: { position: number; data: Uint8Array<ArrayBuffer> }[] = []
  #bytes = 0

  readonly writable = new WritableStream<StreamTargetChunk>({
    write: ({ data, position }) => {
      const added = data.subarray(Math.max(0, this.#bytes - position))
      const corrected = data.subarray(0, Math.max(0, this.#bytes - position))
      if (corrected.length > 0) this.#corrections.push({ position, data: corrected.slice() })
      if (added.length > 0) this.#parts.push(new Blob([added]))
      this.#bytes += added.length
    },
  })

  blob(type: string): Blob {
    const all = this.#corrections.reduce(
      (blob, { position, data }) =>
        new Blob([blob.slice(0, position), data, blob.slice(position + data.length)]),
      new Blob(this.#parts),
    )
    return all.slice(0, all.size, type)
  }
}
