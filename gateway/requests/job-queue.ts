/** Chooses the queue of a job, so that no account fills all engines while another waits. */

import type { JobQueue } from '../../shared/broker/broker.ts'
import type { Store } from '../store/database.ts'
import { accountsInBroker } from '../store/requests.ts'
import type { RequestRow } from '../store/schema/tables.ts'

type Waiting = Pick<RequestRow, 'request_id' | 'account_id' | 'attempts'>

/**
 * By request: `first` for the only job that an account has with the broker, and for one that was
 * begun before, for it has waited; `further` for the rest, which may fill a part of an engine only.
 */
export async function queuesOf(
  store: Store,
  waiting: readonly Waiting[],
): Promise<Map<string, JobQueue>> {
  const accountIds = [...new Set(waiting.map((row) => row.account_id))]
  const present = new Set(await accountsInBroker(store, accountIds))
  const queues = new Map<string, JobQueue>()
  for (const { request_id: requestId, account_id: accountId, attempts } of waiting) {
    queues.set(requestId, attempts > 0 || !present.has(accountId) ? 'first' : 'further')
    present.add(accountId)
  }
  return queues
}
