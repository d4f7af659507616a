/** Writes one audio stream to one file: encoder and muxer. */

import {
  AV_CODEC_FLAG_QSCALE,
  AVERROR_EAGAIN,
  AVERROR_EOF,
  type AVSampleFormat,
  type FFAudioEncoder,
} from 'node-av/constants'
import {
  type ChannelLayout,
  Codec,
  CodecContext,
  Dictionary,
  FormatContext,
  Frame,
  Packet,
  Rational,
  type Stream,
} from 'node-av/lib'
import { addCoverStream, type Cover, writeCover } from '../read/cover.ts'
import { check } from '../ffmpeg.ts'
import type { FileTags } from '../read/tags.ts'

export interface AudioFileFormat {
  /** FFmpeg's name. */
  container: string
  containerOptions: Record<string, string>
  encoder: FFAudioEncoder
  sampleFormat: AVSampleFormat
  /** Hertz. */
  sampleRate: number
  layout: ChannelLayout
  /** Variable bit rate, in units of the encoder; absent if there is no choice. */
  quality?: number
  /** Constant bit rate, in bits per second. */
  bitRate?: number
  encoderOptions?: Record<string, string>
  /** Title, artist and so on, as far as the container supports them. */
  tags: FileTags
  /** For containers that can hold one. */
  cover: Cover | null
}

export class AudioFile {
  readonly #format: AudioFileFormat
  readonly #context = new FormatContext()
  readonly #codec = new CodecContext()
  readonly #packet = new Packet()
  #stream!: Stream
  #samples = 0n

  private constructor(format: AudioFileFormat) {
    this.#format = format
    this.#packet.alloc()
  }

  /** @throws Error if the file cannot be created */
  static async create(path: string, format: AudioFileFormat): Promise<AudioFile> {
    const file = new AudioFile(format)
    try {
      await file.#open(path)
      return file
    } catch (error) {
      await file.close()
      throw error
    }
  }

  async #open(path: string): Promise<void> {
    const { container, containerOptions, encoder, sampleFormat, layout } = this.#format
    const { quality, bitRate, encoderOptions = {} } = this.#format
    check(this.#context.allocOutputContext2(null, container, `file:${path}`), 'choose a container')
    const codec = this.#codec
    codec.allocContext3(Codec.findEncoderByName(encoder))
    codec.sampleFormat = sampleFormat
    codec.sampleRate = this.#format.sampleRate
    codec.channelLayout = layout
    codec.timeBase = new Rational(1, this.#format.sampleRate)
    if (quality !== undefined) {
      codec.setFlags(AV_CODEC_FLAG_QSCALE)
      codec.globalQuality = quality
    }
    if (bitRate !== undefined) codec.bitRate = BigInt(bitRate)
    const codecOptions = Dictionary.fromObject(encoderOptions)
    check(await codec.open2(null, codecOptions), `open the encoder ${encoder}`)
    codecOptions.free()
    this.#stream = this.#context.newStream()
    this.#stream.timeBase = codec.timeBase
    check(this.#stream.codecpar.fromContext(codec), 'describe the stream')
    const { cover } = this.#format
    const coverStream = cover && addCoverStream(this.#context, cover)
    const tags = Dictionary.fromObject(this.#format.tags)
    this.#context.metadata = tags
    tags.free()
    check(await this.#context.openOutput(), 'make the file')
    const options = Dictionary.fromObject(containerOptions)
    check(await this.#context.writeHeader(options), 'write the header')
    options.free()
    if (coverStream) await writeCover(this.#context, coverStream, cover)
  }

  /** Hertz. */
  get sampleRate(): number {
    return this.#format.sampleRate
  }

  get channels(): number {
    return this.#format.layout.nbChannels
  }

  /** How many samples per channel each call of `write` but the last must pass; 0 for any number. */
  get frameSamples(): number {
    return this.#codec.frameSize
  }

  /**
   * Adds samples in the layout of the format: interleaved, or one channel after the other if it is
   * planar. The encoder runs off the main thread.
   * @throws Error if the disk is full
   */
  async write(bytes: Buffer, samples: number): Promise<void> {
    const { sampleFormat, sampleRate, layout } = this.#format
    const frame = Frame.fromAudioBuffer(bytes, {
      nbSamples: samples,
      format: sampleFormat,
      sampleRate,
      channelLayout: layout,
      timeBase: this.#codec.timeBase,
      pts: this.#samples,
    })
    this.#samples += BigInt(samples)
    try {
      check(await this.#codec.sendFrame(frame), 'encode')
    } finally {
      frame.free()
    }
    await this.#writePackets()
  }

  /**
   * Adds samples in the form in which the file stores them, for PCM, which needs no encoder.
   * @throws Error if the disk is full
   */
  async writeCoded(bytes: Buffer, samples: number): Promise<void> {
    const packet = this.#packet
    packet.data = bytes
    packet.pts = packet.dts = this.#samples
    packet.duration = BigInt(samples)
    this.#samples += packet.duration
    await this.#writePacket()
  }

  /** Encodes what is held back, and completes the file. */
  async finish(): Promise<void> {
    check(await this.#codec.sendFrame(null), 'end the encoding')
    await this.#writePackets()
    check(await this.#context.writeTrailer(), 'complete the file')
    await this.#context.closeOutput()
  }

  async #writePackets(): Promise<void> {
    const packet = this.#packet
    for (;;) {
      const code = this.#codec.receivePacketSync(packet)
      if (code === AVERROR_EAGAIN || code === AVERROR_EOF) return
      check(code, 'encode')
      await this.#writePacket()
    }
  }

  async #writePacket(): Promise<void> {
    const packet = this.#packet
    packet.streamIndex = this.#stream.index
    packet.rescaleTs(this.#codec.timeBase, this.#stream.timeBase)
    check(await this.#context.writeFrame(packet), 'write to the file')
    packet.unref()
  }

  /** Frees everything; the file stays as it is. */
  async close(): Promise<void> {
    await this.#context.closeOutput()
    this.#context.freeContext()
    this.#codec.freeContext()
    this.#packet.free()
  }
}
