/** Reads the packets of one stream, one after the other, off the main thread. */

import { AV_NOPTS_VALUE } from 'node-av/constants'
import { FormatContext, Packet, type Stream } from 'node-av/lib'
import { check } from '../ffmpeg.ts'
import { MediaClock } from './media-clock.ts'
import type { ByteRange } from './joined-files.ts'
import { isAudio, openInput, readOnly } from './open-media.ts'

export interface PacketOptions {
  /** Index of the sound stream whose clock corrects the times; absent if they are correct. */
  soundIndex?: number | undefined
  /** The part of the file to read as if it were all of it. */
  range?: ByteRange | undefined
}

export class PacketReader {
  readonly context: FormatContext
  readonly stream: Stream
  /** The current packet, once `next` has returned true. */
  readonly packet = new Packet()
  #read = 0n
  #firstTime = AV_NOPTS_VALUE
  #isTimed = false

  readonly #clock: MediaClock | null

  private constructor(context: FormatContext, stream: Stream, sound: Stream | null) {
    this.context = context
    this.stream = stream
    this.#clock = sound && new MediaClock(context.iformat?.name ?? '', sound, stream)
    this.packet.alloc()
  }

  /**
   * Opens the first stream of a local file for which `matches` is true.
   * @throws Error if there is none, FfmpegCallError if the file cannot be read
   */
  static async open(
    path: string,
    matches: (stream: Stream) => boolean,
    { soundIndex, range }: PacketOptions = {},
  ): Promise<PacketReader> {
    const context = new FormatContext()
    try {
      check(await openInput(context, path, { range }), 'open the file')
      check(await context.findStreamInfo(), 'look into the file')
      const streams = context.streams
      const stream = streams.find(matches)
      if (!stream) throw new Error('The file has no such stream')
      const sound =
        streams.find((candidate) => candidate.index === soundIndex && isAudio(candidate)) ?? null
      readOnly(context, [stream, sound])
      return new PacketReader(context, stream, sound)
    } catch (error) {
      await context.closeInput()
      throw error
    }
  }

  /** Reads the next packet; false at the end, even of a truncated file. */
  async next(): Promise<boolean> {
    do {
      this.packet.unref()
      if ((await this.context.readFrame(this.packet)) < 0) return false
      this.#clock?.place(this.packet)
    } while (this.packet.streamIndex !== this.stream.index)
    if (!this.#isTimed) this.#timeDecoding()
    this.#read += 1n
    return true
  }

  /**
   * Matroska and others state when a picture is shown, but not when it is decoded. FFmpeg derives
   * the decoding times, except for the first few pictures (as many as may be out of order). Here
   * these get times before that of the first one.
   */
  #timeDecoding(): void {
    const { packet, stream } = this
    if (packet.dts !== AV_NOPTS_VALUE) this.#isTimed = true
    if (this.#isTimed || packet.pts === AV_NOPTS_VALUE) return
    if (this.#firstTime === AV_NOPTS_VALUE) this.#firstTime = packet.pts
    const { num, den } = stream.timeBase
    const { num: frames, den: seconds } = stream.avgFrameRate
    const duration = frames > 0 ? Math.max(1, Math.floor((seconds * den) / (frames * num))) : 1
    const framesAhead = BigInt(stream.codecpar.videoDelay) - this.#read
    packet.dts = this.#firstTime - framesAhead * BigInt(duration)
  }

  /** When the current packet is to be decoded, in seconds; `-Infinity` if unknown. */
  get seconds(): number {
    const { dts } = this.packet
    const { num, den } = this.stream.timeBase
    return dts === AV_NOPTS_VALUE ? Number.NEGATIVE_INFINITY : (Number(dts) * num) / den
  }

  async close(): Promise<void> {
    this.packet.free()
    await this.context.closeInput()
  }
}
