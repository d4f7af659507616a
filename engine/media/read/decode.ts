/** Decodes a local media file into blocks of samples; memory does not grow with its length. */

import { AV_NOPTS_VALUE } from 'node-av/constants'
import { avGetCodecName, type Frame } from 'node-av/lib'
import { ServiceError } from '../../../shared/errors.ts'
import { assertNotTooLong } from '../../../shared/media-limits.ts'
import { BlockMaker } from '../block-maker.ts'
import { layoutOf, maskOf } from '../channel-layout.ts'
import { type Cover, readCover } from './cover.ts'
import { FormatChanges } from './format-changes.ts'
import { invalidMedia, type OpenOptions, refusalOf, SAMPLE_RATE_MAX } from './open-media.ts'
import { openFollowing, openPart, openSound, type OpenSound } from './open-sound.ts'
import type { Mixture, MixtureLimits } from './mixture.ts'
import { mixChannels, pairMixtures } from './paired-mixture.ts'
import { SoundClock } from './sound-clock.ts'
import type { Tags } from './tags.ts'

/** For how many of several concatenated files remarks are listed individually. */
const REMARKS_MAX = 8

/** Per channel: 1.5 s at 44.1 kHz. Each block costs a message between two processes. */
const BLOCK_SAMPLES_MAX = 2 ** 16

/**
 * Opens an audio track of a local file, or two that form a pair, and decodes the first frame.
 *
 * Time 0 is the first sample that is meant to be played: where the container states them, FFmpeg
 * removes the delay that AAC, MP3 and Opus encoders add at the start and the padding at the end. In
 * a video, time 0 is the start of the media; sound that starts later is preceded by silence. Gaps
 * in the timestamps of a file are filled with silence, too.
 * @throws ServiceError INVALID_MEDIA, NO_AUDIO_STREAM
 */
export async function openMixture(path: string, limits: MixtureLimits): Promise<Mixture> {
  return mixtureOf(await openSound(path, limits.track), limits)
}

/** Like `openMixture`, for an open file, which is closed with the mixture or if this throws. */
export async function mixtureOf(sound: OpenSound, limits: MixtureLimits): Promise<Mixture> {
  const first = await decodedMixture(sound, limits)
  if (!sound.media.isPaired) return first
  try {
    const second = await openSound(sound.path, 2)
    const pair = [first, await decodedMixture(second, limits)] as const
    return limits.channelsMax === 1 ? mixChannels(pair) : pairMixtures(pair)
  } catch (error) {
    await first.close()
    throw error
  }
}

/**
 * Returns the exact length of the sound in one of several concatenated files, and whether it has a
 * picture; null if it cannot be read and is left out of the mixture.
 */
export async function lengthOfPart(
  path: string,
  options: OpenOptions,
): Promise<{ seconds: number; hasVideo: boolean } | null> {
  const limits = { mediaSecondsMax: Infinity, channelsMax: 1, sampleRate: null }
  try {
    const mixture = await decodedMixture(await openPart(path, options), limits)
    const { sampleRate, hasVideo } = mixture
    let samples = 0
    for await (const [wave] of mixture.blocks()) samples += wave!.length
    await mixture.close()
    return { seconds: samples / sampleRate, hasVideo }
  } catch (error) {
    if (error instanceof ServiceError) return null
    throw error
  }
}

async function decodedMixture(sound: OpenSound, limits: MixtureLimits): Promise<DecodedMixture> {
  try {
    const first = await sound.reader.next()
    if (!first) throw invalidMedia('No sound could be decoded: the file is damaged or cut off')
    const cover = await readCover(sound.path, sound.media.context.streams)
    return new DecodedMixture(sound, first, { ...limits, cover })
  } catch (error) {
    await sound.close()
    throw refusalOf(error)
  }
}

/** In hertz; DSD256 and DSD512 become 352,800. */
const REDUCED_RATE_MAX = 384_000

/**
 * Returns the rate of a source, or a fraction of one that models and outputs do not support. Only
 * DSD has such rates, and what it loses is noise.
 */
const mixtureRateFor = (rate: number): number =>
  rate <= SAMPLE_RATE_MAX ? rate : Math.round(rate / Math.ceil(rate / REDUCED_RATE_MAX))

type DecodeOptions = MixtureLimits & { cover: Cover | null }

class DecodedMixture implements Mixture {
  readonly sampleRate: number
  readonly channels: number
  readonly sourceChannels: number
  readonly channelMask: bigint
  readonly hasVideo: boolean
  readonly streamIndex: number
  readonly track: number | undefined
  readonly sourceSampleRate: number
  readonly codec: string
  readonly container: string
  readonly tags: Tags
  readonly cover: Cover | null
  readonly trackRemarks: readonly string[]
  /** The file that is being read; the current one of several concatenated ones. */
  #sound: OpenSound
  /** In the files before it. */
  #corruptBefore = 0
  readonly #joined: string[]
  readonly #changes = new FormatChanges()
  readonly #maker: BlockMaker
  readonly #first: Frame
  readonly #secondsMax: number
  #samples = 0
  #closed = false

  constructor(sound: OpenSound, first: Frame, options: DecodeOptions) {
    const { media, tags } = sound
    this.streamIndex = media.stream.index
    this.track = sound.track
    this.hasVideo = media.video !== null
    this.codec = avGetCodecName(media.stream.codecpar.codecId) ?? 'unknown'
    this.container = media.container
    this.trackRemarks = media.trackRemarks
    this.tags = tags
    this.cover = options.cover
    this.#sound = sound
    const files = sound.following.length + 1
    this.#joined = files > 1 ? [`The source is ${files} recordings, read one after the other.`] : []
    this.#first = first
    this.#secondsMax = options.mediaSecondsMax
    this.sourceChannels = first.channelLayout.nbChannels
    this.sourceSampleRate = first.sampleRate
    this.sampleRate = options.sampleRate ?? mixtureRateFor(first.sampleRate)
    this.#maker = new BlockMaker(layoutOf(first), {
      sampleRate: this.sampleRate,
      channelsMax: options.channelsMax,
      blockSamples: BLOCK_SAMPLES_MAX,
    })
    this.channels = this.#maker.layout.nbChannels
    this.channelMask = maskOf(this.#maker.layout)
  }

  get corruptPackets(): number {
    return this.#corruptBefore + this.#sound.reader.corruptPackets
  }

  get remarks(): string[] {
    const clock = this.#sound.reader.packets.clock?.remarks ?? []
    return [...this.#joined, ...clock, ...this.#changes.lines, ...this.#damage]
  }

  get #damage(): string[] {
    const { samples, first } = this.#maker.damage
    if (samples === 0) return []
    const all = samples === 1 ? '1 damaged sample' : `${samples} damaged samples`
    return [
      `Silenced ${all} of the source, the first at ${(first / this.sampleRate).toFixed(2)} s: ` +
        'they were not numbers, or beyond +60 dBFS.',
    ]
  }

  async *blocks(): AsyncGenerator<Float32Array[]> {
    try {
      yield* this.#decode()
    } catch (error) {
      throw refusalOf(error)
    }
  }

  async *#decode(): AsyncGenerator<Float32Array[]> {
    yield* this.#decodePart(this.#first)
    const first = this.#sound
    for (const [i, range] of first.following.entries()) {
      const part = await openFollowing(first, range)
      if (part instanceof ServiceError) {
        this.#remark(`Recording ${i + 2} of the source is left out: ${part.message}`)
        continue
      }
      if (part.media.video && !this.hasVideo) {
        this.#remark(
          `Recording ${i + 2} of the source has a picture and the first has none: ` +
            'the picture is left out.',
        )
      }
      await this.#turnTo(part)
      yield* this.#decodePart(await part.reader.next())
    }
    this.#maker.finish()
    yield* this.#taken()
  }

  async *#decodePart(first: Frame | null): AsyncGenerator<Float32Array[]> {
    const clock = new SoundClock()
    const { reader } = this.#sound
    if (first) yield* this.#silence(this.#secondsBefore(first))
    for (let frame = first; frame; frame = await reader.next()) {
      yield* this.#silence(clock.gapBefore(this.#startOf(frame)))
      this.#changes.note(frame, (this.#samples + this.#maker.heldSamples) / this.sampleRate)
      this.#maker.add(frame)
      clock.advance(frame.nbSamples / frame.sampleRate)
      yield* this.#taken()
    }
  }

  #remark(sentence: string): void {
    if (this.#joined.length <= REMARKS_MAX) this.#joined.push(sentence)
  }

  async #turnTo(part: OpenSound): Promise<void> {
    const done = this.#closed ? part : this.#sound
    await done.close()
    this.#assertOpen()
    this.#corruptBefore += done.reader.corruptPackets
    this.#sound = part
  }

  /** In blocks, so that a gap of hours takes no more memory than one of a second. */
  async *#silence(seconds: number): AsyncGenerator<Float32Array[]> {
    assertNotTooLong(this.#samples / this.sampleRate + seconds, this.#secondsMax, this)
    for (let left = Math.round(seconds * this.sampleRate); left > 0;) {
      left -= this.#maker.addSilence(left)
      yield* this.#taken()
      this.#assertOpen()
    }
  }

  #assertOpen(): void {
    if (this.#closed) throw new Error('The media was closed while it was read')
  }

  *#taken(): Generator<Float32Array[]> {
    for (const block of this.#maker.take()) yield this.#counted(block)
  }

  /** Returns by how many seconds the sound starts after the picture. */
  #secondsBefore(first: Frame): number {
    const { video, startSeconds } = this.#sound.media
    const start = this.#startOf(first)
    return video && start !== null ? start - startSeconds : 0
  }

  /** In seconds on the container's clock; null if unknown. */
  #startOf({ pts }: Frame): number | null {
    const { stream, hasTimes } = this.#sound.media
    const { num, den } = stream.timeBase
    return pts === AV_NOPTS_VALUE || !hasTimes ? null : (Number(pts) * num) / den
  }

  #counted(block: Float32Array[]): Float32Array[] {
    this.#samples += block[0]!.length
    const seconds = this.#samples / this.sampleRate
    assertNotTooLong(seconds, this.#secondsMax, this)
    return block
  }

  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    this.#maker.close()
    await this.#sound.close()
  }
}
