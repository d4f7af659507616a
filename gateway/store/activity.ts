/** Counts the requests that ended within a time, from their records. */

import { sql } from 'kysely'
import { isPostgres, type Store } from './database.ts'

export interface EndedCounts {
  completed: number
  /** Without canceled ones. */
  failed: number
  canceled: number
  /** Seconds of media of completed requests. */
  audioSeconds: number
  /**
   * Seconds from submit to the start of the last attempt, on average; null if no request started.
   */
  waitingSeconds: number | null
}

/** Counts the requests that ended at `from` or later, but before `before`. It reads only those. */
export async function countEnded(
  store: Store,
  { from, before }: { from: string; before: string },
): Promise<EndedCounts> {
  const waiting = isPostgres(store)
    ? sql<number>`extract(epoch from started_at::timestamptz - created_at::timestamptz)`
    : sql<number>`(julianday(started_at) - julianday(created_at)) * 86400`
  const { all, completed, canceled, audioSeconds, waitingSeconds } = await store
    .selectFrom('requests')
    .select(({ fn, lit, eb }) => {
      const countIf = (condition: ReturnType<typeof eb>) =>
        fn.sum<number>(eb.case().when(condition).then(lit(1)).else(lit(0)).end())
      const isCompleted = eb('status', '=', 'COMPLETED')
      const isCanceled = eb('error_code', '=', 'CANCELED')
      const seconds = eb.case().when(isCompleted).then(eb.ref('duration')).else(lit(0)).end()
      return [
        fn.countAll<number>().as('all'),
        countIf(isCompleted).as('completed'),
        countIf(isCanceled).as('canceled'),
        fn.sum<number | null>(seconds).as('audioSeconds'),
        fn.avg<number | null>(waiting).as('waitingSeconds'),
      ]
    })
    .where('finished_at', '>=', from)
    .where('finished_at', '<', before)
    .executeTakeFirstOrThrow()
  // sums of no rows are null, and PostgreSQL returns sums and averages as text
  return {
    completed: Number(completed),
    canceled: Number(canceled),
    failed: Number(all) - Number(completed) - Number(canceled),
    audioSeconds: Number(audioSeconds),
    waitingSeconds: waitingSeconds === null ? null : Number(waitingSeconds),
  }
}
