/** Which priority class a request has: its account's or its key's, or a lower one if it asks. */

import { ServiceError } from '../../shared/errors.ts'
import type { Priority } from '../../shared/priority.ts'
import type { Settings } from '../config.ts'
import type { AccountRow, ApiKeyRow } from '../store/schema/tables.ts'

interface PriorityHolders {
  account: Pick<AccountRow, 'own_priority'>
  key: Pick<ApiKeyRow, 'own_priority'>
}

/** The highest class that may be asked for with a key, which its requests have that name none. */
export function highestPriority(
  { account, key }: PriorityHolders,
  { priority }: Settings<'priority'>,
): Priority {
  const ofAccount = account.own_priority ?? priority
  return ofAccount === 'batch' ? ofAccount : (key.own_priority ?? ofAccount)
}

/** @throws ServiceError `INVALID_PARAMETER` for a class above that of the account or the key */
export function priorityOf(
  holders: PriorityHolders,
  asked: Priority | undefined,
  config: Settings<'priority'>,
): Priority {
  const highest = highestPriority(holders, config)
  if (asked === undefined || asked === highest || asked === 'batch') return asked ?? highest
  const whose = holders.key.own_priority === 'batch' ? 'key' : 'account'
  const message = `priority must be batch: your ${whose} may not send interactive requests.`
  throw new ServiceError('INVALID_PARAMETER', { message, param: 'priority' })
}
