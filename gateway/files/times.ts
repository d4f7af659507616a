/** How long a file is kept once its bytes are there. */

import { isoTime } from '../../shared/clock.ts'
import type { AppConfig } from '../deps.ts'

export type Lifetime = Pick<AppConfig, 'fileHours'>

const HOUR_MS = 3_600_000

/** @param uploadedAt epoch milliseconds */
export const keptUntil = (uploadedAt: number, { fileHours }: Lifetime): string =>
  isoTime(uploadedAt + fileHours * HOUR_MS)

/** The times of a file's row from its upload on. @param uploadedAt epoch milliseconds */
export const uploadTimes = (uploadedAt: number, config: Lifetime) => ({
  uploaded_at: isoTime(uploadedAt),
  expires_at: keptUntil(uploadedAt, config),
})
