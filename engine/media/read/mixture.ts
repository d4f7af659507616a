/** A media file's sound, as it is read: facts, and samples block by block. */

import type { Cover } from './cover.ts'
import type { Tags } from './tags.ts'

export interface MixtureLimits {
  /** As of `OpenOptions`. */
  track?: number | undefined
  mediaSecondsMax: number
  /** More channels are mixed down to this number, evenly loud and without overshoot. */
  channelsMax: number
  /** Hertz; null keeps the source's own. */
  sampleRate: number | null
}

export interface Mixture {
  /** Hertz. */
  readonly sampleRate: number
  readonly channels: number
  /** The source's; more than `channels` if they were mixed down. */
  readonly sourceChannels: number
  /** Which loudspeakers, as in a WAV header; 0n where nothing says. */
  readonly channelMask: bigint
  readonly hasVideo: boolean
  /** In the file, the number of the stream that is decoded. */
  readonly streamIndex: number
  /** As of `OpenOptions`: the track of each of several files in one. */
  readonly track?: number | undefined
  /** Hertz, of the source. */
  readonly sourceSampleRate: number
  /** FFmpeg's names, for the log. */
  readonly codec: string
  readonly container: string
  readonly tags: Tags
  readonly cover: Cover | null
  /** Packets skipped so far because they were broken. */
  readonly corruptPackets: number
  /** Sentences for the log: which tracks of sound there are, and which were taken. */
  readonly trackRemarks: readonly string[]
  /** Sentences for the log: what was found while it was read so far, and done about it. */
  readonly remarks: readonly string[]
  /**
   * All samples once, in order, as [channels][samples] of at most 65,536. Values beyond ±1 are
   * kept; what is no number, or beyond ±1,000, is 0. The receiver owns the blocks.
   * @throws ServiceError MEDIA_TOO_LONG, INVALID_MEDIA
   */
  blocks(): AsyncGenerator<Float32Array[]>
  /** Frees the decoder; `blocks` throws if it goes on. */
  close(): Promise<void>
}
