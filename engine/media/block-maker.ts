/** Converts frames of any kind to planar float32 blocks with one sample rate and channel count. */

import {
  AV_CHANNEL_ORDER_UNSPEC,
  AV_SAMPLE_FMT_DBL,
  AV_SAMPLE_FMT_DBLP,
  AV_SAMPLE_FMT_FLT,
  AV_SAMPLE_FMT_FLTP,
  AVERROR_INPUT_CHANGED,
  type AVSampleFormat,
} from 'node-av/constants'
import {
  avChannelLayoutDefault,
  type ChannelLayout,
  Frame,
  SoftwareResampleContext,
} from 'node-av/lib'
import { isMixedByMeaning, layoutOf, mixedDown } from './channel-layout.ts'
import { FfmpegCallError, check } from './ffmpeg.ts'

/** +60 dBFS. No recording has such a sample, and all others would be attenuated to make it fit. */
const LEVEL_MAX = 1_000

const FLOAT_FORMATS: readonly AVSampleFormat[] = [
  AV_SAMPLE_FMT_FLT,
  AV_SAMPLE_FMT_FLTP,
  AV_SAMPLE_FMT_DBL,
  AV_SAMPLE_FMT_DBLP,
]

export interface BlockFormat {
  /** Hertz. */
  sampleRate: number
  /** Media with more channels is downmixed to this many; fewer stay as they are. */
  channelsMax: number
  blockSamples: number
  /** Length of the resampler's filter at the lower rate (default: FFmpeg's own, 32). */
  filterTaps?: number
}

export class BlockMaker {
  readonly layout: ChannelLayout
  readonly #sampleRate: number
  readonly #blockSamples: number
  readonly #filterTaps: number | undefined
  #converter: SoftwareResampleContext | null = null
  /** Whether samples may be damaged; integers never are. */
  #mayBeDamaged = true
  /** How many samples in all channels were silenced as damaged, and where the first one was. */
  readonly damage = { samples: 0, first: 0 }
  readonly #converted = new Frame()
  /** Views of the memory of `#converted`, one for each channel. */
  #planes: Float32Array[] = []
  #block: Float32Array[] = []
  #fill = 0
  /** Counted over all blocks so far. */
  #samples = 0
  #full: Float32Array[][] = []

  /** @param source the loudspeakers of the first frame; later frames may have others */
  constructor(
    source: ChannelLayout,
    { sampleRate, channelsMax, blockSamples, filterTaps }: BlockFormat,
  ) {
    this.layout = source.nbChannels > channelsMax ? mixedDown(source, channelsMax) : source
    this.#sampleRate = sampleRate
    this.#blockSamples = blockSamples
    this.#filterTaps = filterTaps
    this.#converted.alloc()
  }

  add(frame: Frame): void {
    const layout = layoutOf(frame)
    const isAlike = layout.nbChannels === this.layout.nbChannels
    // Channels without names stay where they are if their number does not change.
    frame.channelLayout = namedForConverter(isAlike && isUnnamed(layout) ? this.layout : layout)
    this.#converter ??= this.#openConverter(frame, layout)
    if (this.#convert(frame)) return
    this.#drain() // the source has changed its rate, layout or sample format
    this.#converter = this.#openConverter(frame, layout)
    if (!this.#convert(frame)) throw new FfmpegCallError(AVERROR_INPUT_CHANGED, 'convert samples')
  }

  /** Adds up to `samplesMax` samples of silence, at most a block; returns how many it added. */
  addSilence(samplesMax: number): number {
    this.#drain() // the samples that the resampler holds come first
    const silence = new Float32Array(Math.min(samplesMax, this.#blockSamples))
    this.#append(new Array(this.layout.nbChannels).fill(silence), silence.length)
    return silence.length
  }

  /** Adds what the resampler still holds; nothing may be added after this. */
  finish(): void {
    this.#drain()
    if (this.#fill > 0) this.#full.push(this.#block.map((plane) => plane.slice(0, this.#fill)))
    this.#fill = 0
  }

  /** How many samples the incomplete block has. */
  get heldSamples(): number {
    return this.#fill
  }

  /** Returns the complete blocks, in order; the caller owns them. */
  take(): Float32Array[][] {
    const full = this.#full
    this.#full = []
    return full
  }

  close(): void {
    this.#converter?.free()
    this.#converter = null
    this.#converted.free()
  }

  #openConverter(frame: Frame, source: ChannelLayout): SoftwareResampleContext {
    const converter = new SoftwareResampleContext()
    this.#mayBeDamaged = FLOAT_FORMATS.includes(frame.format as AVSampleFormat)
    check(
      converter.allocSetOpts2(
        namedForConverter(this.layout),
        AV_SAMPLE_FMT_FLTP,
        this.#sampleRate,
        frame.channelLayout,
        frame.format as AVSampleFormat,
        frame.sampleRate,
      ),
      'set up a conversion',
    )
    check(converter.setOption('rematrix_maxval', 1), 'set up a mix') // a mix must not overshoot
    check(converter.setOption('lfe_mix_level', 1), 'set up a mix') // nor leave out the LFE
    if (this.#filterTaps !== undefined) {
      check(converter.setOption('filter_size', this.#filterTaps), 'set up a conversion')
    }
    const [inputs, outputs] = [source.nbChannels, this.layout.nbChannels]
    if (inputs === 1 && outputs === 2) {
      check(converter.setMatrix([1, 1], inputs), 'set up a mix') // keep each side as loud as it was
    } else if (inputs !== outputs && !isMixedByMeaning(source)) {
      check(converter.setMatrix(evenMix(inputs, outputs), inputs), 'set up a mix')
    }
    check(converter.init(), `convert ${inputs} channels to ${outputs}`)
    return converter
  }

  /** Returns false, without doing anything, if the converter is for another kind of frame. */
  #convert(frame: Frame | null): boolean {
    const converter = this.#converter!
    this.#ensureRoom(converter.getOutSamples(frame?.nbSamples ?? 0))
    this.#converted.nbSamples = 0 // takes all samples that there are
    const code = converter.convertFrame(this.#converted, frame)
    if (code === AVERROR_INPUT_CHANGED) return false
    check(code, 'convert samples')
    this.#append(this.#planes, this.#converted.nbSamples)
    return true
  }

  #drain(): void {
    if (this.#converter) this.#convert(null)
    this.#converter?.free()
    this.#converter = null
  }

  /** Makes `#converted` large enough; its memory is reused for every frame. */
  #ensureRoom(samples: number): void {
    if (samples <= (this.#planes[0]?.length ?? 0)) return
    const frame = this.#converted
    const room = Math.max(samples, this.#blockSamples)
    frame.unref()
    frame.format = AV_SAMPLE_FMT_FLTP
    frame.sampleRate = this.#sampleRate
    frame.channelLayout = namedForConverter(this.layout)
    frame.nbSamples = room
    check(frame.getBuffer(), 'allocate samples')
    this.#planes = frame.extendedData!.map(
      ({ buffer, byteOffset }) => new Float32Array(buffer, byteOffset, room),
    )
  }

  #append(planes: readonly Float32Array[], samples: number): void {
    for (let from = 0; from < samples;) {
      if (this.#fill === 0) {
        this.#block = planes.map(() => new Float32Array(this.#blockSamples))
      }
      const count = Math.min(samples - from, this.#blockSamples - this.#fill)
      for (const [channel, plane] of planes.entries()) {
        const room = this.#block[channel]!.subarray(this.#fill, this.#fill + count)
        room.set(plane.subarray(from, from + count))
        if (this.#mayBeDamaged) this.#silenceDamage(room)
      }
      from += count
      this.#samples += count
      this.#fill += count
      if (this.#fill === this.#blockSamples) {
        this.#full.push(this.#block)
        this.#fill = 0
      }
    }
  }

  /**
   * Replaces NaN, infinities and values that no recording has by 0, because they would spoil all
   * others.
   * @param samples of one channel, about to be added
   */
  #silenceDamage(samples: Float32Array): void {
    const { damage } = this
    for (let i = 0; i < samples.length; i++) {
      if (Math.abs(samples[i]!) <= LEVEL_MAX) continue // false for NaN
      samples[i] = 0
      const at = this.#samples + i
      damage.first = damage.samples === 0 ? at : Math.min(damage.first, at)
      damage.samples += 1
    }
  }
}

const isUnnamed = ({ order }: ChannelLayout): boolean => order === AV_CHANNEL_ORDER_UNSPEC

/** FFmpeg's converter gives up to eight channels without names the usual ones, and expects them. */
const namedForConverter = (layout: ChannelLayout): ChannelLayout =>
  isUnnamed(layout) ? avChannelLayoutDefault(layout.nbChannels) : layout

/** For channels without a meaning: input `i` goes to output `i mod outputs`, all evenly loud. */
function evenMix(inputs: number, outputs: number): number[] {
  const share = Math.ceil(inputs / outputs)
  return Array.from({ length: outputs }, (_, output) =>
    Array.from({ length: inputs }, (_, input) => (input % outputs === output ? 1 / share : 0)),
  ).flat()
}
