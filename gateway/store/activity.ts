/** Counts what ended lately, hour by hour, from the records of requests. */

import { sql } from 'kysely'
import { isPostgres, type Store } from './database.ts'

/** The requests that ended within one hour. */
export interface HourRow {
  /** UTC, such as `2026-01-31T17`. */
  hour: string
  completed: number
  /** Without those that were canceled. */
  failed: number
  canceled: number
  /** The media of completed requests. */
  audioSeconds: number
  /** From submit to the start of the last attempt, on average; null: none of them started. */
  waitingSeconds: number | null
}

/** The hours in which any request ended, since a time; bounded by an index on that time. */
export async function countHours(store: Store, since: string): Promise<HourRow[]> {
  const waiting = isPostgres(store)
    ? sql<number>`extract(epoch from started_at::timestamptz - created_at::timestamptz)`
    : sql<number>`(julianday(started_at) - julianday(created_at)) * 86400`
  const rows = await store
    .selectFrom('requests')
    .select(({ fn, lit, eb }) => {
      const countIf = (condition: ReturnType<typeof eb>) =>
        fn.sum<number>(eb.case().when(condition).then(lit(1)).else(lit(0)).end())
      const isCompleted = eb('status', '=', 'COMPLETED')
      const isCanceled = eb('error_code', '=', 'CANCELED')
      const seconds = eb.case().when(isCompleted).then(eb.ref('duration')).else(lit(0)).end()
      return [
        sql<string>`substr(finished_at, 1, 13)`.as('hour'),
        fn.countAll<number>().as('all'),
        countIf(isCompleted).as('completed'),
        countIf(isCanceled).as('canceled'),
        fn.sum<number | null>(seconds).as('audioSeconds'),
        fn.avg<number | null>(waiting).as('waitingSeconds'),
      ]
    })
    .where('finished_at', '>=', since)
    .groupBy(sql`substr(finished_at, 1, 13)`)
    .execute()
  // PostgreSQL answers sums and averages as text
  return rows.map(({ hour, all, completed, canceled, audioSeconds, waitingSeconds }) => ({
    hour,
    completed: Number(completed),
    canceled: Number(canceled),
    failed: Number(all) - Number(completed) - Number(canceled),
    audioSeconds: Number(audioSeconds),
    waitingSeconds: waitingSeconds === null ? null : Number(waitingSeconds),
  }))
}
