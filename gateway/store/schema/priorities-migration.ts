/** Adds the priority class of requests, and the highest one of each account. */

import type { Kysely } from 'kysely'
import { addColumn, addIndex } from './steps.ts'

export async function addPriorities(db: Kysely<any>): Promise<void> {
  await addColumn(db, 'accounts.own_priority', 'text')
  await addColumn(db, 'requests.priority', 'text', 'interactive')
  await addColumn(db, 'outbox.is_batch', 'integer', 0)
  await addIndex(db, 'outbox_by_turn', 'outbox', ['is_batch', 'created_at', 'message_id'])
}
