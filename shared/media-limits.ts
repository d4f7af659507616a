/**
 * Limits that depend on the duration of media: checked by the gateway at submit for a file that an
 * engine has measured before, else by the engine that measures it.
 */

import { ServiceError } from './errors.ts'
import type { AudioSpan } from './separation-options.ts'

/** Bounds the longest media, over all channels: stereo at 192 kHz, or 7.1 at 48. */
const SAMPLES_PER_SECOND_MAX = 384_000

/** The longest duration that may be reported: three years. A damaged file may claim more. */
export const MEASURED_SECONDS_MAX = 1e8

export interface SoundShape {
  /** Hertz. */
  sampleRate: number
  channels: number
}

/**
 * @param secondsMax for sound of up to 384,000 samples a second over all channels; of more, media
 * may last as much shorter: what is decoded and written is bounded by it
 * @throws ServiceError MEDIA_TOO_LONG
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

/** @throws ServiceError INVALID_PARAMETER for a span that lies wholly past the end */
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
