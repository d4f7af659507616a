/**
 * Encodes one sound as segments of Opus, each of which a browser can decode alone, to the exact
 * sample.
 */

import { AV_SAMPLE_FMT_FLT, FF_ENCODER_LIBOPUS } from 'node-av/constants'
import {
  avChannelLayoutDefault,
  Codec,
  CodecContext,
  Dictionary,
  type Frame,
  Packet,
  Rational,
} from 'node-av/lib'
import { BlockMaker } from '../block-maker.ts'
import { layoutOfMask } from '../channel-layout.ts'
import { check } from '../ffmpeg.ts'
import { frameOf } from '../planar-frame.ts'
import { OPUS_RATE, oggOpus } from './ogg-opus.ts'

export interface PreviewSound {
  /** Sample rate of the blocks in hertz. */
  sampleRate: number
  /** Channels of the blocks; more than two are downmixed. */
  channels: number
  channelMask?: bigint
}

export const PREVIEW_CHANNELS_MAX = 2
/** Bits per second, for mono and stereo. */
export const PREVIEW_BIT_RATES = [48_000, 64_000] as const

/**
 * Packets of 0.1 s. Each segment repeats the packet before it, whose sound is dropped: after a cold
 * start a decoder needs 0.08 s until its output is the same as without the start.
 */
const PACKET_SAMPLES = OPUS_RATE / 10
const SEGMENT_PACKETS = 50
/** Samples in a segment, at 48 kHz. */
export const PREVIEW_SEGMENT_SAMPLES = SEGMENT_PACKETS * PACKET_SAMPLES

/** Out of ten. Higher values cost CPU time and cannot be heard at these bit rates. */
const COMPLEXITY = '3'

export class PreviewLane {
  readonly #layout
  readonly #channels: number
  readonly #sampleRate: number
  readonly #maker: BlockMaker
  readonly #codec = new CodecContext()
  readonly #packet = new Packet()
  /** Packets of the current segment, preceded by the one before it. */
  #packets: Buffer[] = []
  #blocks = 0
  #segments = 0

  private constructor({ sampleRate, channels, channelMask = 0n }: PreviewSound) {
    this.#sampleRate = sampleRate
    this.#channels = Math.min(channels, PREVIEW_CHANNELS_MAX)
    this.#layout = layoutOfMask(channelMask, channels)
    this.#maker = new BlockMaker(this.#layout, {
      sampleRate: OPUS_RATE,
      channelsMax: PREVIEW_CHANNELS_MAX,
      blockSamples: PACKET_SAMPLES,
    })
    this.#packet.alloc()
  }

  /** @throws Error if the encoder is not available */
  static async open(sound: PreviewSound): Promise<PreviewLane> {
    const lane = new PreviewLane(sound)
    try {
      await lane.#open()
      return lane
    } catch (error) {
      lane.close()
      throw error
    }
  }

  async #open(): Promise<void> {
    const codec = this.#codec
    codec.allocContext3(Codec.findEncoderByName(FF_ENCODER_LIBOPUS))
    codec.sampleFormat = AV_SAMPLE_FMT_FLT
    codec.sampleRate = OPUS_RATE
    codec.channelLayout = avChannelLayoutDefault(this.#channels)
    codec.timeBase = new Rational(1, OPUS_RATE)
    codec.bitRate = BigInt(PREVIEW_BIT_RATES[this.#channels - 1]!)
    const options = Dictionary.fromObject({
      compression_level: COMPLEXITY,
      frame_duration: '100',
      vbr: 'constrained',
    })
    check(await codec.open2(null, options), 'open the encoder of the preview')
    options.free()
    // The encoder's delay. Silence before it aligns packets with segments.
    const lateSamples = codec.extraData!.readUInt16LE(10)
    this.#maker.addSilence(PACKET_SAMPLES - lateSamples)
  }

  /** Takes [channels][samples] of any length without keeping them. */
  add(block: readonly Float32Array[]): void {
    const frame = frameOf(block, { sampleRate: this.#sampleRate, layout: this.#layout })
    this.#maker.add(frame)
    frame.free()
  }

  /**
   * Encodes what was added and returns complete segments; only one call at a time.
   * @param samples length of the whole sound at 48 kHz, if it is known
   */
  async encode(samples = Infinity): Promise<Buffer[]> {
    const segments: Buffer[] = []
    const blocksMax = Math.ceil(samples / PACKET_SAMPLES) + 1
    for (const block of this.#maker.take()) {
      if (this.#blocks === blocksMax) break
      await this.#encodeBlock(block)
      if (this.#packets.length <= SEGMENT_PACKETS) continue
      segments.push(this.#segmentOf(Math.min(PREVIEW_SEGMENT_SAMPLES, this.#left(samples))))
    }
    return segments
  }

  /**
   * Encodes the rest.
   * @param samples at 48 kHz, of everything that was added
   * @returns the last segments
   */
  async finish(samples: number): Promise<Buffer[]> {
    this.#maker.addSilence(PACKET_SAMPLES) // makes up for the delay, in full blocks
    this.#maker.addSilence(PACKET_SAMPLES)
    const segments = await this.encode(samples)
    const left = this.#left(samples)
    return left > 0 ? [...segments, this.#segmentOf(left)] : segments
  }

  #left(samples: number): number {
    return samples - this.#segments * PREVIEW_SEGMENT_SAMPLES
  }

  close(): void {
    this.#maker.close()
    this.#codec.freeContext()
    this.#packet.free()
  }

  #segmentOf(samples: number): Buffer {
    const { length } = this.#packets
    const segment = oggOpus({
      channels: this.#channels,
      preSkip: PACKET_SAMPLES,
      samples,
      packets: this.#packets,
      packetSamples: PACKET_SAMPLES,
    })
    this.#packets = this.#packets.slice(length - 1)
    this.#segments += 1
    return segment
  }

  async #encodeBlock(block: readonly Float32Array[]): Promise<void> {
    const layout = avChannelLayoutDefault(this.#channels)
    const frame: Frame = frameOf(block, { sampleRate: OPUS_RATE, layout })
    frame.pts = BigInt(this.#blocks * PACKET_SAMPLES)
    this.#blocks += 1
    try {
      check(await this.#codec.sendFrame(frame), 'encode the preview')
    } finally {
      frame.free()
    }
    check(this.#codec.receivePacketSync(this.#packet), 'encode the preview')
    this.#packets.push(Buffer.from(this.#packet.data!))
    this.#packet.unref()
  }
}
