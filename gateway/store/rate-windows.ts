/** Counts the calls of keys per minute, where several gateways count together. */

import { sql } from 'kysely'
import type { Store } from './database.ts'

interface Call {
  keyId: string
  now: string
  /** When the window ends that this call begins, if the last one is over. */
  endsAt: string
  /** A window that would end even later is over as well, because the clock was set back. */
  latest: string
}

/** Counts a call of a key in its window, or as the first call of a new one if that is over. */
export const countCall = (store: Store, { keyId, now, endsAt, latest }: Call) =>
  store
    .insertInto('rate_windows')
    .values({ key_id: keyId, calls: 1, ends_at: endsAt })
    .onConflict((conflict) =>
      conflict.column('key_id').doUpdateSet({
        calls: sql`case when rate_windows.ends_at > ${now} and rate_windows.ends_at <= ${latest}
          then rate_windows.calls + 1 else 1 end`,
        ends_at: sql`case when rate_windows.ends_at > ${now} and rate_windows.ends_at <= ${latest}
          then rate_windows.ends_at else ${endsAt} end`,
      }),
    )
    .returningAll()
    .executeTakeFirstOrThrow()

export async function deleteOldWindows(store: Store, now: string): Promise<void> {
  await store.deleteFrom('rate_windows').where('ends_at', '<=', now).execute()
}
