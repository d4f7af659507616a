/** Reads the decoded frames of a stream in order, and skips damaged packets. */

import { setImmediate as nextTurn } from 'node:timers/promises'
import { AVERROR_EAGAIN, AVERROR_EOF } from 'node-av/constants'
import { CodecContext, Dictionary, Frame, type Stream } from 'node-av/lib'
import { check } from '../ffmpeg.ts'
import { assertSupported, type Media } from './open-media.ts'
import { StreamPackets } from './stream-packets.ts'

/**
 * The largest number of samples per channel that one packet may decode to. A second of TTA at 768
 * kHz has 802,462, and no other codec has longer frames. FFmpeg treats longer ones as damaged
 * packets.
 */
const FRAME_SAMPLES_MAX = 2 ** 20

/** How many packets are read before the event loop gets a turn. */
const PACKETS_PER_TURN = 256

/**
 * Calls FFmpeg synchronously: reading and decoding a packet takes about 15 µs, and a detour through
 * the thread pool would cost the main thread as much for each of three calls.
 */
export class FrameReader {
  readonly packets: StreamPackets
  readonly #codec = new CodecContext()
  readonly #frame = new Frame()
  readonly #stream: Stream
  #packets = 0
  #corruptPackets = 0
  #atEnd = false
  #closed = false

  private constructor(media: Media) {
    this.packets = new StreamPackets(media)
    this.#stream = media.stream
    this.#frame.alloc()
  }

  static async open(media: Media): Promise<FrameReader> {
    const reader = new FrameReader(media)
    const codec = reader.#codec
    codec.allocContext3(media.decoder)
    check(codec.parametersToContext(media.stream.codecpar), 'configure the decoder')
    // FFmpeg needs it to time the frames after a dropped delay.
    codec.pktTimebase = media.stream.timeBase
    const limits = Dictionary.fromObject({ max_samples: String(FRAME_SAMPLES_MAX) })
    check(await codec.open2(media.decoder, limits), 'open the decoder')
    limits.free()
    return reader
  }

  /** How many packets could not be read or decoded so far. */
  get corruptPackets(): number {
    return this.#corruptPackets
  }

  /**
   * Returns the next frame, valid until the next call; null at the end.
   * @throws ServiceError INVALID_MEDIA for a frame with an unsupported rate or channel layout
   */
  async next(): Promise<Frame | null> {
    for (;;) {
      if (this.#closed) throw new Error('The media was closed while it was read')
      const code = this.#codec.receiveFrameSync(this.#frame)
      if (code >= 0) return checkFrame(this.#frame, this.#stream)
      if (code !== AVERROR_EAGAIN && code !== AVERROR_EOF) this.#corruptPackets++
      if (this.#atEnd) return null
      this.#feed()
      if (++this.#packets % PACKETS_PER_TURN === 0) await nextTurn()
    }
  }

  /** Passes the decoder one packet or, if none is left, the end of the stream. */
  #feed(): void {
    const isMore = this.packets.next((packet) => {
      if (this.#codec.sendPacketSync(packet) < 0) this.#corruptPackets++
    })
    if (isMore) return
    if (this.packets.endedBroken) this.#corruptPackets++ // keeps what was decoded before
    this.#codec.sendPacketSync(null)
    this.#atEnd = true
  }

  close(): void {
    this.#closed = true
    this.packets.close()
    this.#frame.free()
    this.#codec.freeContext()
  }
}

/**
 * Returns the frame if it is supported. This is checked for every frame, because the header may
 * state one rate, and a later frame another.
 */
function checkFrame(frame: Frame, { codecpar: { codecId } }: Stream): Frame {
  const { sampleRate, channelLayout } = frame
  assertSupported({ sampleRate, channels: channelLayout.nbChannels, codecId })
  return frame
}
