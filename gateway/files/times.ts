/** Says how long a file is kept once its bytes have arrived. */

import { isoTime } from '../../shared/clock.ts'
import { HOUR_MS } from '../../shared/durations.ts'

export interface Lifetime {
  /** How many hours a file is kept after its upload. */
  fileHours: number
}

/** @param uploadedAt epoch milliseconds */
export const keptUntil = (uploadedAt: number, { fileHours }: Lifetime): string =>
  isoTime(uploadedAt + fileHours * HOUR_MS)

/** Returns the times in a file's row from its upload on. @param uploadedAt epoch milliseconds */
export const uploadTimes = (uploadedAt: number, config: Lifetime) => ({
  uploaded_at: isoTime(uploadedAt),
  expires_at: keptUntil(uploadedAt, config),
})
