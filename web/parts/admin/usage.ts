import type { components } from '../../../clients/typescript/api.ts'
import type { Admin } from '../../state/admin.ts'
import { usePath } from './polled.ts'

export type Usage = components['schemas']['AdminUsage']

const EVERY_MS = 30_000

/** What accounts used and stored; null until it is read. The state says what is wrong. */
export const useUsage = (admin: Admin): Usage | null =>
  usePath<Usage>(admin, 'usage', EVERY_MS).answer
