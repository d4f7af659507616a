/** Says how long a file is kept once its bytes have arrived. */

import { isoTime } from '../../shared/clock.ts'
import { HOUR_MS } from '../../shared/durations.ts'

export interface Lifetime {
  /** From the upload on. */
  fileHours: number
}

/** @param uploadedAt epoch milliseconds */
export const keptUntil = (uploadedAt: number, { fileHours }: Lifetime): string =>
  isoTime(uploadedAt + fileHours * HOUR_MS)

/** The times of a file's row from its upload on. @param uploadedAt epoch milliseconds */
export const uploadTimes = (uploadedAt: number, config: Lifetime) => ({
  uploaded_at: isoTime(uploadedAt),
  expires_at: keptUntil(uploadedAt, config),
})
