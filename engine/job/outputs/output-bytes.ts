/** How much the outputs of a request will take, before anything is separated. */

import type { SoundFormat } from '../../media/channel-layout.ts'
import { OPUS_RATE } from '../../media/write/ogg-opus.ts'
import {
  PREVIEW_BIT_RATES,
  PREVIEW_CHANNELS_MAX,
  PREVIEW_SEGMENT_SAMPLES,
} from '../../media/write/preview-lane.ts'
import { PEAKS_MAX } from './peaks.ts'

interface Outputs {
  /** Targets and residual. */
  count: number
  seconds: number
  format: SoundFormat
  /** The mixture's. */
  sampleRate: number
  channels: number
  /** The source's; 0: it has no picture. */
  videoBytes: number
  /** The source's cover, which MP3 and FLAC hold. */
  coverBytes: number
  hasPreview: boolean
}

/** Tags, headers and the index of a file. */
const EXTRA_BYTES = 65_536
const BYTES_PER_SAMPLE = 3
/** MP3 takes 320 kbit/s at most, AAC 128 kbit/s a channel. */
const MP3_BYTES_PER_SECOND = 40_000
const AAC_BYTES_PER_SECOND_AND_CHANNEL = 16_000
/** Least and greatest of each bucket, as text such as `-128,`. */
const PEAKS_BYTES = 2 * 5 * PEAKS_MAX
/** The encoder keeps its rate on average: what is short may take more. */
const PREVIEW_BITS_FACTOR = 1.1
const PREVIEW_SEGMENT_EXTRA_BYTES = 2_560

/**
 * No less than the files of the sound take. A picture that is copied takes what the source has; how
 * much one takes that is coded again, nobody knows before.
 */
export function predictOutputBytes(outputs: Outputs): number {
  const { count, seconds, channels, videoBytes } = outputs
  const track = seconds * channels * AAC_BYTES_PER_SECOND_AND_CHANNEL
  const video = videoBytes === 0 ? 0 : videoBytes + track + EXTRA_BYTES
  const drawn = (count + 1) * (PEAKS_BYTES + previewBytes(outputs))
  return Math.ceil(count * (soundBytes(outputs) + video) + drawn)
}

/** Of one sound: headers, a packet twice and the entry of the index come with each segment. */
function previewBytes({ seconds, channels, hasPreview }: Outputs): number {
  if (!hasPreview) return 0
  const segments = Math.ceil((seconds * OPUS_RATE) / PREVIEW_SEGMENT_SAMPLES)
  const bitRate = PREVIEW_BIT_RATES[Math.min(channels, PREVIEW_CHANNELS_MAX) - 1]!
  return (PREVIEW_BITS_FACTOR * seconds * bitRate) / 8 + segments * PREVIEW_SEGMENT_EXTRA_BYTES
}

function soundBytes({ seconds, format, sampleRate, channels, coverBytes }: Outputs): number {
  const pcm = seconds * sampleRate * channels * BYTES_PER_SAMPLE + EXTRA_BYTES
  if (format === 'wav') return pcm
  const coded = format === 'mp3' ? seconds * MP3_BYTES_PER_SECOND + EXTRA_BYTES : pcm
  return coded + coverBytes
}
