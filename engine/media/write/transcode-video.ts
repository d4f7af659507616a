/** Transcodes a video stream to H.264 in an MP4 file, off the main thread. */

import { availableParallelism } from 'node:os'
import {
  AV_CODEC_FLAG_FRAME_DURATION,
  AV_CODEC_FLAG_GLOBAL_HEADER,
  AV_CODEC_FLAG_INTERLACED_DCT,
  AV_CODEC_FLAG_INTERLACED_ME,
  AV_CODEC_ID_VP8,
  AV_CODEC_ID_VP9,
  AV_NOPTS_VALUE,
  AV_PICTURE_TYPE_NONE,
  AV_PIX_FMT_YUV420P,
  AV_PKT_DATA_DISPLAYMATRIX,
  AVCOL_RANGE_MPEG,
  AVERROR_EAGAIN,
  AVERROR_EOF,
  FF_DECODER_LIBVPX_VP8,
  FF_DECODER_LIBVPX_VP9,
  FF_ENCODER_LIBX264,
  type AVCodecID,
  type FFDecoderCodec,
} from 'node-av/constants'
import {
  avRescaleQ,
  Codec,
  CodecContext,
  Dictionary,
  FormatContext,
  Frame,
  Packet,
  Rational,
  type Stream,
} from 'node-av/lib'
import { check } from '../ffmpeg.ts'
import type { ByteRange } from '../read/joined-files.ts'
import { isVideo, pixelAspectOf } from '../read/open-media.ts'
import { PacketReader } from '../read/packet-reader.ts'
import { formOf, PictureConverter, type PictureForm } from './picture-converter.ts'

export interface TranscodeOptions {
  path: string
  to: string
  /** In the order in which they are shown. */
  parts: readonly VideoPart[]
  /** As in `PacketOptions`. */
  soundIndex?: number | undefined
  /** Called for each packet that was read. */
  onPacket(): void
}

/** A file, or one of several concatenated ones; times are in seconds. */
export interface VideoPart {
  /** As in `PacketOptions`. */
  range?: ByteRange
  /** The time on the part's clock that becomes `showFrom`. */
  startSeconds: number
  /** In the video. */
  showFrom: number
  /** In the video: no picture of this part starts at this time or later. */
  showUntil: number
}

const TRANSPARENCY_DECODERS = new Map<AVCodecID, FFDecoderCodec>([
  [AV_CODEC_ID_VP8, FF_DECODER_LIBVPX_VP8],
  [AV_CODEC_ID_VP9, FF_DECODER_LIBVPX_VP9],
])

/** The most pixels in a picture, 4096 x 2304; larger ones take gigabytes to decode and encode. */
const PIXELS_MAX = 4096 * 2304

/** A quality without visible loss for most viewers, at a speed that keeps up with the model. */
const X264 = { preset: 'veryfast', crf: '20' }

/** Half of the CPUs, because the model needs the others, and each thread holds frames in memory. */
const THREADS = Math.min(8, Math.max(1, Math.floor(availableParallelism() / 2)))

/** For a video of several parts, whose time bases may differ. */
const JOINED_TIME_BASE = new Rational(1, 90_000)

/**
 * Transcodes a video. Rotation, pixel aspect, colours and fields stay those of the source, or of
 * its first part.
 * @returns what the pictures became
 * @throws Error if no picture can be decoded, or it is too large
 */
export async function transcodeVideo(options: TranscodeOptions): Promise<PictureForm> {
  const { to, parts } = options
  let writer: VideoWriter | null = null
  try {
    for (const part of parts) {
      for await (const { frame, source } of picturesOf(part, options)) {
        const timeBase = parts.length > 1 ? JOINED_TIME_BASE : source.timeBase
        writer ??= await VideoWriter.create(to, { source, frame, timeBase })
        await writer.write(frame, part, source)
      }
    }
    if (!writer) throw new Error('no picture could be decoded')
    await writer.finish()
    return writer.form
  } finally {
    await writer?.close()
  }
}

/**
 * Yields decoded pictures, each of which is valid until the next, and skips those that cannot be
 * decoded.
 */
async function* picturesOf(
  { range }: VideoPart,
  { path, soundIndex, onPacket }: TranscodeOptions,
): AsyncGenerator<{ frame: Frame; source: Stream }> {
  const reader = await PacketReader.open(path, isVideo, { soundIndex, range })
  const decoder = new CodecContext()
  const frame = new Frame()
  frame.alloc()
  try {
    await openDecoder(decoder, reader.stream)
    let atEnd = false
    while (!atEnd) {
      atEnd = !(await reader.next())
      await decoder.sendPacket(atEnd ? null : reader.packet)
      while ((await decoder.receiveFrame(frame)) >= 0) {
        yield { frame, source: reader.stream }
        frame.unref()
      }
      if (!atEnd) onPacket()
    }
  } finally {
    frame.free()
    decoder.freeContext()
    await reader.close()
  }
}

/**
 * Returns the decoder for pictures whose transparency WebM stores next to them; FFmpeg's own would
 * show the colours of transparent areas. Null if the stream has no such pictures.
 */
export function transparencyDecoder({ codecpar, metadata }: Stream): Codec | null {
  const name = TRANSPARENCY_DECODERS.get(codecpar.codecId)
  const isTransparent = name !== undefined && metadata?.get('alpha_mode') === '1'
  return isTransparent ? Codec.findDecoderByName(name) : null
}

async function openDecoder(decoder: CodecContext, stream: Stream): Promise<void> {
  const { codecpar, timeBase } = stream
  const { width, height } = codecpar
  if (width * height > PIXELS_MAX) {
    throw new Error(
      `a picture of ${width} x ${height} is too large to re-encode: ` +
        `the limit is ${PIXELS_MAX} pixels`,
    )
  }
  const codec = transparencyDecoder(stream) ?? Codec.findDecoder(codecpar.codecId)
  if (!codec) throw new Error('the codec of the video is not supported')
  decoder.allocContext3(codec)
  check(decoder.parametersToContext(codecpar), 'configure the decoder')
  decoder.pktTimebase = timeBase
  decoder.threadCount = THREADS
  const limits = Dictionary.fromObject({ max_pixels: String(PIXELS_MAX) }) // of every picture
  check(await decoder.open2(codec, limits), 'open the decoder')
  limits.free()
}

interface WriterOptions {
  source: Stream
  /** The first picture, which determines the form of the video. */
  frame: Frame
  /** That of the video. */
  timeBase: Rational
}

const ticksOf = (seconds: number, { num, den }: Rational): bigint =>
  BigInt(Math.round((seconds * den) / num))

class VideoWriter {
  readonly form: PictureForm
  readonly #output = new FormatContext()
  readonly #codec = new CodecContext()
  readonly #packet = new Packet()
  readonly #converter: PictureConverter
  readonly #timeBase: Rational
  /** For pictures without a duration, in units of `#timeBase`. */
  readonly #usualDuration: bigint
  #stream!: Stream
  #lastTime: bigint | null = null
  /** When the picture added last ends, in units of `#timeBase`. */
  #nextTime = 0n

  private constructor({ source, frame, timeBase }: WriterOptions) {
    const rate = source.avgFrameRate
    this.#timeBase = timeBase
    const usual = ticksOf(rate.num > 0 ? rate.den / rate.num : 0.04, timeBase)
    this.#usualDuration = usual > 0n ? usual : 1n
    this.form = formOf(frame)
    this.#converter = new PictureConverter(this.form)
    this.#packet.alloc()
  }

  static async create(path: string, options: WriterOptions): Promise<VideoWriter> {
    const writer = new VideoWriter(options)
    try {
      await writer.#open(path, options)
      return writer
    } catch (error) {
      await writer.close()
      throw error
    }
  }

  async #open(path: string, { source }: WriterOptions): Promise<void> {
    check(this.#output.allocOutputContext2(null, 'mp4', `file:${path}`), 'choose a container')
    await this.#openEncoder(source)
    this.#stream = this.#output.newStream()
    this.#stream.timeBase = this.#timeBase
    check(this.#stream.codecpar.fromContext(this.#codec), 'describe the stream')
    const rotation = source.codecpar.getCodedSideData(AV_PKT_DATA_DISPLAYMATRIX)
    if (rotation) this.#stream.codecpar.addCodedSideData(AV_PKT_DATA_DISPLAYMATRIX, rotation)
    check(await this.#output.openOutput(), 'make the file')
    check(await this.#output.writeHeader(), 'write the header')
  }

  async #openEncoder(source: Stream): Promise<void> {
    const codec = this.#codec
    const encoder = Codec.findEncoderByName(FF_ENCODER_LIBX264)
    codec.allocContext3(encoder)
    codec.width = this.form.width
    codec.height = this.form.height
    codec.pixelFormat = AV_PIX_FMT_YUV420P
    codec.timeBase = this.#timeBase
    if (source.avgFrameRate.num > 0) codec.framerate = source.avgFrameRate
    codec.sampleAspectRatio = pixelAspectOf(source)
    codec.colorRange = AVCOL_RANGE_MPEG
    codec.colorSpace = this.form.matrix
    codec.colorPrimaries = this.form.primaries
    codec.colorTrc = this.form.transfer
    codec.chromaLocation = this.form.chromaLocation
    codec.threadCount = THREADS
    codec.setFlags(AV_CODEC_FLAG_GLOBAL_HEADER, AV_CODEC_FLAG_FRAME_DURATION)
    if (this.form.isInterlaced) {
      codec.setFlags(AV_CODEC_FLAG_INTERLACED_DCT, AV_CODEC_FLAG_INTERLACED_ME)
    }
    const options = Dictionary.fromObject(X264)
    check(await codec.open2(encoder, options), 'open the encoder libx264')
    options.free()
  }

  /** Adds a picture, unless it is not later than the one before. */
  async write(frame: Frame, part: VideoPart, { timeBase }: Stream): Promise<void> {
    const time = this.#timeOf(frame, part, timeBase)
    if (this.#lastTime !== null && time <= this.#lastTime) return
    if (Number(time) >= (part.showUntil * this.#timeBase.den) / this.#timeBase.num) return
    const lasts = avRescaleQ(frame.duration, timeBase, this.#timeBase)
    const duration = lasts > 0n ? lasts : this.#usualDuration
    this.#lastTime = time
    this.#nextTime = time + duration
    const picture = await this.#converter.convert(frame)
    picture.pts = time
    picture.duration = duration
    picture.pictType = AV_PICTURE_TYPE_NONE // lets the encoder decide the type
    check(await this.#codec.sendFrame(picture), 'encode')
    await this.#writePackets()
  }

  #timeOf(
    { bestEffortTimestamp: given }: Frame,
    { startSeconds, showFrom }: VideoPart,
    timeBase: Rational,
  ): bigint {
    if (given === AV_NOPTS_VALUE) return this.#nextTime
    const since = given - ticksOf(startSeconds, timeBase)
    return avRescaleQ(since, timeBase, this.#timeBase) + ticksOf(showFrom, this.#timeBase)
  }

  async finish(): Promise<void> {
    check(await this.#codec.sendFrame(null), 'end the encoding')
    await this.#writePackets()
    check(await this.#output.writeTrailer(), 'complete the file')
  }

  async #writePackets(): Promise<void> {
    const packet = this.#packet
    for (;;) {
      const code = await this.#codec.receivePacket(packet)
      if (code === AVERROR_EAGAIN || code === AVERROR_EOF) return
      check(code, 'encode')
      packet.streamIndex = this.#stream.index
      packet.rescaleTs(this.#timeBase, this.#stream.timeBase)
      check(await this.#output.interleavedWriteFrame(packet), 'write to the file')
      packet.unref()
    }
  }

  async close(): Promise<void> {
    await this.#output.closeOutput()
    this.#output.freeContext()
    this.#codec.freeContext()
    this.#packet.free()
    this.#converter.close()
  }
}
