/** Writes blocks of samples to a WAV, FLAC or MP3 file, as a stream. */

import { rm, stat } from 'node:fs/promises'
import {
  AV_SAMPLE_FMT_FLTP,
  AV_SAMPLE_FMT_S32,
  FF_ENCODER_AAC,
  FF_ENCODER_FLAC,
  FF_ENCODER_LIBMP3LAME,
  FF_ENCODER_PCM_S24LE,
  type AVSampleFormat,
} from 'node-av/constants'
import type { ChannelLayout } from 'node-av/lib'
import { OUTPUT_MARK } from '../../../shared/output-mark.ts'
import { AudioFile, type AudioFileFormat } from './audio-file.ts'
import { BlockMaker } from '../block-maker.ts'
import { layoutInFile, layoutOfMask, mixedDown, type SoundFormat } from '../channel-layout.ts'
import type { Cover } from '../read/cover.ts'
import { bytesOf, frameOf } from '../planar-frame.ts'
import type { FileTags, Tags } from '../read/tags.ts'

export interface EncoderOptions {
  /** `aac` is the sound track of a video, as an M4A file. */
  format: SoundFormat
  /**
   * Sample rate of the blocks in hertz. MP3 and AAC support few; others are resampled to the next
   * higher one.
   */
  sampleRate: number
  /** Channels of the blocks. MP3 has at most two, AAC eight; more are downmixed. */
  channels: number
  /** Which loudspeakers, as in a WAV header (default 0n: unknown). */
  channelMask?: bigint
  /** Whether an LFE among them has more than low frequencies. */
  lfeHasFullRange?: boolean
  /** Tags of the source (default: none). */
  tags?: Tags
  /** Cover of the source, for MP3 and FLAC (default: none). */
  cover?: Cover | null
}

export interface EncodedFile {
  bytes: number
  contentType: string
  /** Without the dot. */
  extension: string
}

export interface Encoder {
  /** Sample rate of the file in hertz. */
  readonly sampleRate: number
  /** Channels of the file. */
  readonly channels: number
  /**
   * Why the loudspeakers have other names in the file, as a line for the log; null if they do not.
   */
  readonly layoutChange: string | null
  /** Adds [channels][samples] of any length, without keeping them; only one call at a time. */
  write(block: readonly Float32Array[]): Promise<void>
  finish(): Promise<EncodedFile>
  /** Aborts and removes the file; does nothing after `finish`. */
  abort(): Promise<void>
}

/**
 * Starts a file at `path`, replacing any that exists. Its tags say that it was separated.
 *
 * `wav` is 24-bit PCM, rounded and clipped to full scale, without dither, with exactly the samples
 * that were written; RF64 beyond 4 GiB. `flac` has the same samples, for up to eight channels.
 * `mp3` is LAME at its best variable bit rate (V0). `aac` has 128 kbit/s for each channel.
 * @throws Error if the file cannot be created
 */
export async function createEncoder(path: string, options: EncoderOptions): Promise<Encoder> {
  const { sampleRate, channels, channelMask = 0n, lfeHasFullRange = false } = options
  const { tags = {}, cover = null } = options
  const layout = layoutOfMask(channelMask, channels)
  const marked = { ...tags, encoded_by: OUTPUT_MARK }
  const source = { sampleRate, layout, lfeHasFullRange, tags: marked, cover }
  return options.format === 'wav'
    ? createWav(path, source)
    : createCompressed(path, source, COMPRESSIONS[options.format](source))
}

interface Source {
  sampleRate: number
  layout: ChannelLayout
  lfeHasFullRange: boolean
  tags: FileTags
  cover: Cover | null
}

async function createWav(path: string, source: Source): Promise<Encoder> {
  const { sampleRate, tags } = source
  const { layout, change } = layoutInFile('wav', source.layout)
  const file = await AudioFile.create(path, {
    container: 'wav',
    containerOptions: { rf64: 'auto' },
    encoder: FF_ENCODER_PCM_S24LE,
    sampleFormat: AV_SAMPLE_FMT_S32,
    sampleRate,
    layout,
    tags,
    cover: null, // RIFF cannot hold it
  })
  const packed = createPacker()
  const write = async (block: readonly Float32Array[]) => {
    if (samplesOf(block) > 0) await file.writeCoded(packed(block), samplesOf(block))
  }
  const kind = { contentType: 'audio/wav', extension: 'wav' }
  return encoderOf(path, file, { write, layoutChange: change, ...kind })
}

/** Sample rates that MP3 and AAC support, in hertz, ascending. */
const MP3_SAMPLE_RATES = [8000, 11025, 12000, 16000, 22050, 24000, 32000, 44100, 48000]
const AAC_SAMPLE_RATES = [...MP3_SAMPLE_RATES, 64000, 88200, 96000]

/**
 * Returns the rate itself if it is supported, otherwise the next higher one; for multiples of 44.1
 * kHz, one of that family.
 */
function nearestSampleRate(sampleRate: number, rates: readonly number[]): number {
  const most = rates.at(-1)!
  if (sampleRate <= most) return rates.find((rate) => rate >= sampleRate)!
  return rates.findLast((rate) => sampleRate % rate === 0 && rate % 44100 === 0) ?? most
}

/** For each channel; at low rates FFmpeg takes what fits. */
const AAC_BITS_PER_SECOND = 128_000

/** FLAC's header can state any rate of 16 bits, and higher ones in multiples of ten hertz. */
const isFlacRate = (rate: number): boolean => rate < 2 ** 16 || rate % 10 === 0

const flac = (source: Source): Compression => ({
  format: 'flac',
  sampleRate: isFlacRate(source.sampleRate)
    ? source.sampleRate
    : 10 * Math.round(source.sampleRate / 10),
  channelsMax: 8,
  // The encoder's default at 44.1 kHz, within FLAC's streamable subset at every rate.
  coding: { container: 'flac', encoder: FF_ENCODER_FLAC, encoderOptions: { frame_size: '4608' } },
  samples: { format: AV_SAMPLE_FMT_S32, bytesOf: createQuantizer() },
  holdsCover: true,
  contentType: 'audio/flac',
  extension: 'flac',
})

/** For the encoders of MP3 and AAC: one channel after the other. */
const PLANAR = {
  format: AV_SAMPLE_FMT_FLTP,
  bytesOf: (block: readonly Float32Array[]) => Buffer.concat(block.map(bytesOf)),
}

const mp3 = (source: Source): Compression => ({
  format: 'mp3',
  sampleRate: nearestSampleRate(source.sampleRate, MP3_SAMPLE_RATES),
  channelsMax: 2,
  coding: { container: 'mp3', encoder: FF_ENCODER_LIBMP3LAME, quality: 0 }, // V0
  samples: PLANAR,
  holdsCover: true,
  contentType: 'audio/mpeg',
  extension: 'mp3',
})

const aac = (source: Source): Compression => ({
  format: 'aac',
  sampleRate: nearestSampleRate(source.sampleRate, AAC_SAMPLE_RATES),
  channelsMax: 8,
  coding: {
    container: 'ipod',
    encoder: FF_ENCODER_AAC,
    bitRate: AAC_BITS_PER_SECOND * source.layout.nbChannels,
    // The default coder distorts the first two frames (a tone has 15 dB there instead of 40).
    encoderOptions: { aac_coder: 'fast' },
  },
  samples: PLANAR,
  holdsCover: false, // it is the sound track of a video
  contentType: 'audio/mp4',
  extension: 'm4a',
})

const COMPRESSIONS = { flac, mp3, aac }

interface Compression {
  format: SoundFormat
  /** Sample rate of the file in hertz. */
  sampleRate: number
  channelsMax: number
  coding: Pick<AudioFileFormat, 'container' | 'encoder' | 'quality' | 'bitRate' | 'encoderOptions'>
  /** In the format that the encoder takes. */
  samples: { format: AVSampleFormat; bytesOf(block: readonly Float32Array[]): Buffer }
  holdsCover: boolean
  contentType: string
  extension: string
}

async function createCompressed(
  path: string,
  source: Source,
  compression: Compression,
): Promise<Encoder> {
  const { format, sampleRate, channelsMax, coding, samples, holdsCover } = compression
  const { contentType, extension } = compression
  const mixed =
    source.layout.nbChannels > channelsMax ? mixedDown(source.layout, channelsMax) : source.layout
  const { layout, change: layoutChange } = layoutInFile(format, mixed, source.lfeHasFullRange)
  const file = await AudioFile.create(path, {
    ...coding,
    containerOptions: {},
    sampleFormat: samples.format,
    sampleRate,
    layout,
    tags: source.tags,
    cover: holdsCover ? source.cover : null,
  })
  const maker = new BlockMaker(source.layout, {
    sampleRate,
    channelsMax,
    blockSamples: file.frameSamples,
  })
  const writeMade = async () => {
    for (const made of maker.take()) {
      await file.write(samples.bytesOf(made), samplesOf(made))
    }
  }
  const write = (block: readonly Float32Array[]) => {
    if (samplesOf(block) > 0) {
      const frame = frameOf(block, source)
      maker.add(frame)
      frame.free()
    }
    return writeMade()
  }
  const flush = () => {
    maker.finish()
    return writeMade()
  }
  const close = () => maker.close()
  return encoderOf(path, file, { write, flush, close, layoutChange, contentType, extension })
}

interface EncoderParts {
  write: Encoder['write']
  /** Writes what was held back. */
  flush?: () => Promise<void>
  close?: () => void
  layoutChange: string | null
  contentType: string
  extension: string
}

function encoderOf(path: string, file: AudioFile, parts: EncoderParts): Encoder {
  let isClosed = false
  let pending = Promise.resolve()
  const close = async () => {
    isClosed = true
    await pending.catch(() => undefined) // FFmpeg may still use the memory until then
    parts.close?.()
    await file.close()
  }
  return {
    sampleRate: file.sampleRate,
    channels: file.channels,
    layoutChange: parts.layoutChange,
    write(block) {
      pending = parts.write(block)
      return pending
    },
    async finish() {
      await parts.flush?.()
      await file.finish()
      await close()
      const { contentType, extension } = parts
      return { bytes: (await stat(path)).size, contentType, extension }
    },
    async abort() {
      if (isClosed) return
      await close()
      await rm(path, { force: true })
    },
  }
}

const samplesOf = (block: readonly Float32Array[]): number => block[0]?.length ?? 0

const FULL_SCALE = 2 ** 23
const [LEAST, GREATEST] = [-FULL_SCALE, FULL_SCALE - 1]
const PADDING_BITS = 8

/**
 * How many samples of a channel are converted before it is the next channel's turn, so that all
 * channels fit in the cache.
 */
const SAMPLES_AT_ONCE = 2_048
const BYTES = 3

/**
 * Creates a function that interleaves 24-bit samples, each in the upper bits of 32, of which FFmpeg
 * drops the lower ones. The result is valid until the next call, because new memory each time would
 * add up to megabytes a second.
 */
function createQuantizer(): (block: readonly Float32Array[]) => Buffer {
  let room = new Int32Array(0)
  return (block) => {
    const length = samplesOf(block) * block.length
    if (room.length < length) room = new Int32Array(length)
    const samples = room.subarray(0, length)
    for (const [channel, plane] of block.entries()) {
      for (let i = 0, at = channel; i < plane.length; i++, at += block.length) {
        samples[at] = levelOf(plane[i]!) << PADDING_BITS
      }
    }
    return bytesOf(samples)
  }
}

/** Like `createQuantizer`, but with three bytes for each sample, as in WAV files. */
function createPacker(): (block: readonly Float32Array[]) => Buffer {
  let room = new Int32Array(0)
  return (block) => {
    const samples = samplesOf(block)
    const step = BYTES * block.length
    const words = Math.ceil((samples * step) / room.BYTES_PER_ELEMENT)
    if (room.length < words) room = new Int32Array(words)
    const bytes = bytesOf(room)
    const [left, right] = block
    const packed = block.length === 2 ? packPairs(left!, right!, room) : 0
    for (let from = packed; from < samples; from += SAMPLES_AT_ONCE) {
      const to = Math.min(samples, from + SAMPLES_AT_ONCE)
      for (const [channel, plane] of block.entries()) {
        pack(plane.subarray(from, to), bytes, { at: from * step + BYTES * channel, step })
      }
    }
    return bytes.subarray(0, samples * step)
  }
}

/**
 * Packs two channels, with two samples of each in three words, which takes half as long as writing
 * single bytes.
 * @returns how many samples of a channel were packed; an odd last one is not
 */
function packPairs(left: Float32Array, right: Float32Array, words: Int32Array): number {
  const samples = left.length - (left.length % 2)
  for (let i = 0, at = 0; i < samples; i += 2, at += 3) {
    const [a, b] = [levelOf(left[i]!), levelOf(right[i]!)]
    const [c, d] = [levelOf(left[i + 1]!), levelOf(right[i + 1]!)]
    words[at] = (a & 0xffffff) | (b << 24)
    words[at + 1] = ((b >> 8) & 0xffff) | (c << 16)
    words[at + 2] = ((c >> 16) & 0xff) | (d << 8)
  }
  return samples
}

function pack(
  samples: Float32Array,
  bytes: Uint8Array,
  { at, step }: { at: number; step: number },
): void {
  for (let i = 0; i < samples.length; i++, at += step) {
    const level = levelOf(samples[i]!)
    bytes[at] = level
    bytes[at + 1] = level >> 8
    bytes[at + 2] = level >> 16
  }
}

/** Rounds and clips to full scale. */
function levelOf(sample: number): number {
  const level = sample * FULL_SCALE + 0.5 // Math.round takes three times as long
  return (level < LEAST ? LEAST : level > GREATEST ? GREATEST : Math.floor(level)) | 0 // NaN: 0
}
