/**
 * Limits that depend on the duration of media: checked by the gateway at submit for a file that an
 * engine has measured before, else by the engine that measures it.
 */

import { ServiceError } from './errors.ts'
import type { AudioSpan } from './separation-options.ts'

/** @throws ServiceError MEDIA_TOO_LONG */
export function assertNotTooLong(seconds: number, secondsMax: number): void {
  if (seconds <= secondsMax) return
  throw new ServiceError('MEDIA_TOO_LONG', {
    message: `The media lasts ${seconds.toFixed(1)} s or more; the limit is ${secondsMax} s.`,
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
