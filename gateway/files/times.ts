/** Says how long a file is kept once its bytes have arrived. */

import { isoTime } from '../../shared/clock.ts'
import { HOUR_MS } from '../../shared/durations.ts'
import type { Settings } from '../config.ts'

/** @param uploadedAt epoch milliseconds */
export const keptUntil = (uploadedAt: number, { fileHours }: Settings<'fileHours'>): string =>
  isoTime(uploadedAt + fileHours * HOUR_MS)

/**
 * Returns the times in a file's row from its upload on.
 * @param uploadedAt epoch milliseconds
 */
export const uploadTimes = (uploadedAt: number, config: Settings<'fileHours'>) => ({
  uploaded_at: isoTime(uploadedAt),
  expires_at: keptUntil(uploadedAt, config),
})
