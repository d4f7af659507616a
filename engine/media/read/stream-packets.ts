/**
 * The packets of one stream of a file, in order. Packets that were read ahead to measure it are
 * returned again, because opening a file takes FFmpeg longer than reading a minute of it.
 */

import { AVERROR_EOF } from 'node-av/constants'
import { Packet } from 'node-av/lib'
import { assertPacketNotEncrypted } from './encryption.ts'
import { MediaClock } from './media-clock.ts'
import { isReadOrThrow, type Media } from './open-media.ts'

/** Limits what is read ahead to some minutes of sound, because its process has little memory. */
const KEPT_BYTES_MAX = 16 * 2 ** 20
const KEPT_PACKETS_MAX = 8_192

export class StreamPackets {
  /** Null if the file has no timestamps. */
  readonly clock: MediaClock | null
  readonly #media: Media
  #packet = new Packet()
  #kept: Packet[] = []
  #keptBytes = 0
  #missesKept = false
  /** FFmpeg's code at the end of the file; null before that. */
  #endCode: number | null = null

  constructor(media: Media) {
    this.#media = media
    const { container, stream, video, hasTimes } = media
    this.clock = hasTimes ? new MediaClock(container, stream, video) : null
    this.#packet.alloc()
  }

  /** Whether packets that were read ahead cannot be returned again, because there were too many. */
  get areMissing(): boolean {
    return this.#missesKept
  }

  /** Whether the file ended with an error, as a truncated one may. */
  get endedBroken(): boolean {
    return this.#endCode !== null && this.#endCode !== AVERROR_EOF
  }

  /**
   * Reads one packet and passes it to `use` if it belongs to the stream; the packet is valid during
   * that call. Returns false at the end.
   * @throws FfmpegCallError if memory runs out; ServiceError INVALID_MEDIA for an encrypted packet
   */
  next(use: (packet: Packet) => void): boolean {
    const kept = this.#kept.shift()
    if (!kept) return this.#read(use)
    use(kept)
    kept.free()
    return true
  }

  /** Like `next`, which will return the packet again. */
  readAhead(use: (packet: Packet) => void): boolean {
    return this.#read((packet) => {
      use(packet)
      this.#keep(packet)
    })
  }

  close(): void {
    this.#packet.free()
    this.#dropKept()
  }

  #read(use: (packet: Packet) => void): boolean {
    if (this.#endCode !== null) return false
    const { context, stream } = this.#media
    const code = context.readFrameSync(this.#packet)
    if (!isReadOrThrow(code)) {
      this.#endCode = code
      return false
    }
    this.clock?.place(this.#packet)
    if (this.#packet.streamIndex === stream.index) {
      assertPacketNotEncrypted(this.#packet)
      use(this.#packet)
    }
    this.#packet.unref()
    return true
  }

  #keep(packet: Packet): void {
    if (this.#missesKept) return
    this.#kept.push(packet)
    this.#keptBytes += packet.size
    this.#packet = new Packet()
    this.#packet.alloc()
    if (this.#keptBytes <= KEPT_BYTES_MAX && this.#kept.length <= KEPT_PACKETS_MAX) return
    this.#missesKept = true
    this.#dropKept()
  }

  #dropKept(): void {
    for (const packet of this.#kept) packet.free()
    this.#kept = []
  }
}
