/** Which priority class a request of an account has. */

import { ServiceError } from '../../shared/errors.ts'
import type { Priority } from '../../shared/priority.ts'
import type { AccountRow } from '../store/schema/tables.ts'

export interface PriorityDefault {
  /** The highest class of accounts that have none of their own. */
  priority: Priority
}

/** The highest class that an account may ask for, which its requests have that name none. */
export const highestPriority = (
  { own_priority: own }: Pick<AccountRow, 'own_priority'>,
  { priority }: PriorityDefault,
): Priority => own ?? priority

/** @throws ServiceError `INVALID_PARAMETER` for a class above the account's */
export function priorityOf(
  account: AccountRow,
  asked: Priority | undefined,
  config: PriorityDefault,
): Priority {
  const highest = highestPriority(account, config)
  if (asked === undefined || asked === highest || asked === 'batch') return asked ?? highest
  const message = 'priority must be batch: your account may not send interactive requests.'
  throw new ServiceError('INVALID_PARAMETER', { message, param: 'priority' })
}
