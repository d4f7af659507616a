/**
 * Limits that depend on the duration of media. The gateway checks them at submit if an engine has
 * measured the file before; otherwise the engine that measures it does.
 */

import { ServiceError } from './errors.ts'
import type { AudioSpan } from './separation-options.ts'

/**
 * Samples per second over all channels that the longest media may have: stereo at 192 kHz, or 7.1
 * at 48 kHz.
 */
const SAMPLES_PER_SECOND_MAX = 384_000

/**
 * The longest duration in seconds that may be reported, three years; a damaged file may claim more.
 */
export const MEASURED_SECONDS_MAX = 1e8

export interface SoundShape {
  sampleRate: number
  channels: number
}

/**
 * @param secondsMax applies up to 384,000 samples a second over all channels. With more, media must
 *   be shorter in proportion, which bounds how much is decoded and written
 * @throws ServiceError `MEDIA_TOO_LONG`
 */
export function assertNotTooLong(seconds: number, secondsMax: number, sound?: SoundShape): void {
  const { sampleRate, channels } = sound ?? { sampleRate: 0, channels: 0 }
  const share = Math.min(1, SAMPLES_PER_SECOND_MAX / (sampleRate * channels))
  if (seconds <= secondsMax * share) return
  const limit =
    share === 1
      ? `${secondsMax} s`
      : `${(secondsMax * share).toFixed(1)} s for ${channels} channels at ${sampleRate} Hz, ` +
        `and ${secondsMax} s up to ${SAMPLES_PER_SECOND_MAX} samples a second over all channels`
  throw new ServiceError('MEDIA_TOO_LONG', {
    message: `The media lasts ${seconds.toFixed(1)} s or more; the limit is ${limit}.`,
  })
}

/** @throws ServiceError INVALID_PARAMETER for a span that lies completely after the end */
export function assertSpansBegin(spans: readonly AudioSpan[], seconds: number): void {
  const index = spans.findIndex((span) => span.start >= seconds)
  if (index < 0) return
  throw new ServiceError('INVALID_PARAMETER', {
    param: `input.spans[${index}].start`,
    message:
      `input.spans[${index}] starts at ${spans[index]?.start} s, but the media ends at ` +
      `${seconds.toFixed(3)} s; a span must begin before the end.`,
  })
}
