/**
 * Converts outputs to other formats piece by piece, so that a file is never whole in memory. Loaded
 * on demand, because the encoders are larger than the page.
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
  type ConversionAudioOptions,
  type OutputFormat,
  type StreamTargetChunk,
} from 'mediabunny'
import { slicesOf } from './decode.ts'

export type SoundFormat = 'wav' | 'flac' | 'mp3'

/** The size field of a WAV file ends here; RF64 has a larger one. */
const WAV_BYTES_MAX = 2 ** 32
const WAV_BYTES_OF_SAMPLE = 3
const MP3_BITS_PER_SECOND = 256_000
/** For each channel, as in the service's files. */
const AAC_BITS_PER_SECOND = 128_000
/** The encoder puts this many samples of silence before the sound. */
const AAC_SAMPLES_BEFORE = 1_024

export interface ConvertOptions {
  signal: AbortSignal
  /** Receives the completed share, from 0 to 1. */
  onProgress(part: number): void
}

/** @throws Error if this browser cannot do it, or the media no longer exists */
export async function convert(
  media: string | Blob,
  format: SoundFormat,
  { signal, onProgress }: ConvertOptions,
): Promise<Blob> {
  await registerEncoder(format)
  const source = media instanceof Blob ? new BlobSource(media) : new UrlSource(media)
  const input = new Input({ source, formats: [WAVE, FLAC, MP3] })
  try {
    const collected = new CollectedBlob()
    const output = new Output({
      format: await formatOf(format, input),
      target: new StreamTarget(collected.writable, { chunked: true }),
    })
    const conversion = await Conversion.init({ input, output, audio: AUDIO[format] })
    if (!conversion.isValid) {
      const [discarded] = conversion.discardedTracks
      throw new Error(`This browser can't make it: ${discarded?.reason ?? 'there is no sound'}.`)
    }
    conversion.onProgress = onProgress
    signal.throwIfAborted()
    const cancel = () => void conversion.cancel()
    signal.addEventListener('abort', cancel, { once: true })
    await conversion.execute()
    return collected.blob(output.format.mimeType)
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
  { signal, onProgress }: ConvertOptions,
): Promise<Blob> {
  const { registerAacEncoder } = await import('@mediabunny/aac-encoder')
  registerAacEncoder()
  const input = new Input({ source: new UrlSource(video), formats: [MP4] })
  const collected = new CollectedBlob()
  const target = new StreamTarget(collected.writable, { chunked: true })
  const output = new Output({ format: new Mp4OutputFormat({ fastStart: false }), target })
  try {
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
    const samples = new AudioBufferSource(
      { codec: 'aac', bitrate: AAC_BITS_PER_SECOND * sound.numberOfChannels },
      { startTimestamp: -AAC_SAMPLES_BEFORE / sound.sampleRate },
    )
    output.addAudioTrack(samples)
    output.setMetadataTags(await input.getMetadataTags())
    await output.start()
    const encode = async () => {
      for (const { slice, end } of slicesOf(sound)) {
        signal.throwIfAborted()
        await samples.add(slice)
        onProgress(end / sound.length)
      }
      samples.close()
    }
    await Promise.all([copying.execute(), encode()])
    await output.finalize()
    return collected.blob(output.format.mimeType)
  } catch (error) {
    await output.cancel()
    throw error
  } finally {
    input.dispose()
  }
}

/** Samples keep their 24 bits if the format has them. */
const AUDIO: Readonly<Record<SoundFormat, ConversionAudioOptions>> = {
  wav: { codec: 'pcm-s24' },
  flac: { codec: 'flac' },
  mp3: { codec: 'mp3', bitrate: MP3_BITS_PER_SECOND },
}

/** No browser has built-in encoders for both. */
async function registerEncoder(format: SoundFormat): Promise<void> {
  if (format === 'flac') (await import('@mediabunny/flac-encoder')).registerFlacEncoder()
  if (format === 'mp3') (await import('@mediabunny/mp3-encoder')).registerMp3Encoder()
}

async function formatOf(format: SoundFormat, input: Input): Promise<OutputFormat> {
  if (format === 'flac') return new FlacOutputFormat()
  if (format === 'mp3') return new Mp3OutputFormat()
  const track = await input.getPrimaryAudioTrack()
  if (!track) return new WavOutputFormat()
  const samples = (await track.computeDuration()) * track.sampleRate * track.numberOfChannels
  return new WavOutputFormat({ large: samples * WAV_BYTES_OF_SAMPLE >= WAV_BYTES_MAX })
}

/** The pieces of a file, which the browser may keep on disk. Late pieces correct the header. */
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
