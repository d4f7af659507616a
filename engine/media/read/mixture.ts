/** The sound of a media file as it is read: its properties, and samples block by block. */

import type { Cover } from './cover.ts'
import type { Tags } from './tags.ts'

export interface MixtureLimits {
  /** As in `OpenOptions`. */
  track?: number | undefined
  mediaSecondsMax: number
  /** More channels are downmixed to this number, at equal loudness and without overshoot. */
  channelsMax: number
  /** In hertz; null keeps the rate of the source, or a fraction of one above 768 kHz. */
  sampleRate: number | null
}

export interface Mixture {
  /** In hertz. */
  readonly sampleRate: number
  readonly channels: number
  /** Channels of the source; more than `channels` if they were downmixed. */
  readonly sourceChannels: number
  /** Which loudspeakers, as in a WAV header; 0n if unknown. */
  readonly channelMask: bigint
  readonly hasVideo: boolean
  /** Index of the decoded stream within the file. */
  readonly streamIndex: number
  /** As in `OpenOptions`; applies to each of several concatenated files. */
  readonly track?: number | undefined
  /** Sample rate of the source in hertz. */
  readonly sourceSampleRate: number
  /** FFmpeg's names, for the log. */
  readonly codec: string
  readonly container: string
  readonly tags: Tags
  readonly cover: Cover | null
  /** How many packets were skipped so far because they were damaged. */
  readonly corruptPackets: number
  /** Sentences for the log: which audio tracks there are, and which were taken. */
  readonly trackRemarks: readonly string[]
  /** Sentences for the log: problems found so far while reading, and what was done about them. */
  readonly remarks: readonly string[]
  /**
   * Yields all samples once, in order, as [channels][samples] of at most 65,536. Values beyond ±1
   * are kept; values beyond ±1,000 and those that are not numbers become 0. The receiver owns the
   * blocks.
   * @throws ServiceError MEDIA_TOO_LONG, INVALID_MEDIA
   */
  blocks(): AsyncGenerator<Float32Array[]>
  /** Frees the decoder; `blocks` throws if it is used after that. */
  close(): Promise<void>
}
