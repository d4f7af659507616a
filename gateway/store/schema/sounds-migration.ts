/** Adds requests that list the sounds of media, and such lists for separations. */

import type { Kysely } from 'kysely'
import { addColumn, addIndex } from './steps.ts'

export async function addSounds(db: Kysely<any>): Promise<void> {
  await addColumn(db, 'requests.kind', 'text', 'separate')
  await addColumn(db, 'requests.sounds', 'text')
  await addIndex(db, 'requests_by_account_kind', 'requests', [
    'account_id',
    'kind',
    'created_at',
    'request_id',
  ])
  await addIndex(db, 'requests_by_account_kind_status', 'requests', [
    'account_id',
    'kind',
    'status',
    'created_at',
    'request_id',
  ])
  await db.schema.dropIndex('requests_timed').execute()
  await addIndex(
    db,
    'requests_timed',
    'requests',
    ['kind', 'status', 'finished_at'],
    'finished_at is not null and started_at is not null and duration is not null',
  )
}
