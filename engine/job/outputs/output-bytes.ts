/** Predicts the size of a request's outputs before anything is separated. */

import type { SoundFormat } from '../../media/channel-layout.ts'
import { OPUS_RATE } from '../../media/write/ogg-opus.ts'
import {
  PREVIEW_BIT_RATES,
  PREVIEW_CHANNELS_MAX,
  PREVIEW_SEGMENT_SAMPLES,
} from '../../media/write/preview-lane.ts'
import { PEAKS_MAX } from './peaks.ts'

interface Outputs {
  /** How many targets and residuals. */
  count: number
  seconds: number
  format: SoundFormat
  /** Sample rate of the mixture. */
  sampleRate: number
  channels: number
  /** Size of the source; 0 if it has no picture. */
  videoBytes: number
  /** Size of the source's cover, which MP3 and FLAC contain. */
  coverBytes: number
  hasPreview: boolean
}

/** Tags, headers and the index of a file. */
const EXTRA_BYTES = 65_536
const BYTES_PER_SAMPLE = 3
/** MP3 takes at most 320 kbit/s, AAC 128 kbit/s for each channel. */
const MP3_BYTES_PER_SECOND = 40_000
const AAC_BYTES_PER_SECOND_AND_CHANNEL = 16_000
/** Minimum and maximum of each bucket, as text such as `-128,`. */
const PEAKS_BYTES = 2 * 5 * PEAKS_MAX
/** The encoder only keeps its average rate, so short sounds may exceed it. */
const PREVIEW_BITS_FACTOR = 1.1
const PREVIEW_SEGMENT_EXTRA_BYTES = 2_560

/**
 * Returns an upper bound for the sound. A copied picture takes as much as in the source; the size
 * of a re-encoded one is unknown in advance.
 */
export function predictOutputBytes(outputs: Outputs): number {
  const { count, seconds, channels, videoBytes } = outputs
  const track = seconds * channels * AAC_BYTES_PER_SECOND_AND_CHANNEL
  const video = videoBytes === 0 ? 0 : videoBytes + track + EXTRA_BYTES
  const drawn = (count + 1) * (PEAKS_BYTES + previewBytes(outputs))
  return Math.ceil(count * (soundBytes(outputs) + video) + drawn)
}

/** For one sound: each segment adds headers, a repeated packet and an index entry. */
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
