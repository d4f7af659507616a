/** Pages of lists that are ordered by time, newest first. */

import { sql, type SelectQueryBuilder, type SqlBool } from 'kysely'
import type { Tables } from './schema/tables.ts'

/** The item after which a page begins, in the order of the list. */
export interface PageStart {
  created_at: string
  id: string
}

export interface Page {
  limit: number
  after?: PageStart | undefined
}

/** Cuts a query to one page. `time` and `id` are the columns that order it. */
export function newestFirst<From extends keyof Tables, Row>(
  query: SelectQueryBuilder<Tables, From, Row>,
  { time = 'created_at', id }: { time?: string; id: string },
  { limit, after }: Page,
) {
  const [timeColumn, idColumn] = [sql.ref(time), sql.ref(id)]
  const rest = after
    ? query.where(sql<SqlBool>`(${timeColumn}, ${idColumn}) < (${after.created_at}, ${after.id})`)
    : query
  return rest.orderBy(timeColumn, 'desc').orderBy(idColumn, 'desc').limit(limit)
}
