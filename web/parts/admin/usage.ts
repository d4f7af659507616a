import type { components } from '../../../clients/typescript/api.ts'
import type { Admin } from '../../state/admin.ts'
import { usePath } from './polled.ts'

export type Usage = components['schemas']['AdminUsage']

const INTERVAL_MS = 30_000

/** The usage and storage of accounts; null until it is read. The admins' view reports problems. */
export const useUsage = (admin: Admin): Usage | null =>
  usePath<Usage>(admin, 'usage', INTERVAL_MS).data
