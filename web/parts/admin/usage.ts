import type { components } from '../../../clients/typescript/api.ts'
import type { Admin } from '../../state/admin.ts'
import { usePath } from './polled.ts'

export type Usage = components['schemas']['AdminUsage']

const INTERVAL_MS = 30_000

/** Returns the usage of an account; undefined until it is read. */
export const usageOf = (usage: Usage | null, { account_id: id }: { account_id: string }) =>
  usage?.data.find(({ account_id: other }) => other === id)

/** The usage and storage of accounts; null until it is read. The admins' view reports problems. */
export const useUsage = (admin: Admin): Usage | null =>
  usePath<Usage>(admin, 'usage', INTERVAL_MS).data
