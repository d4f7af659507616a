/** The database as its users have it, whichever it is, and what its transactions keep. */

import { setTimeout as sleep } from 'node:timers/promises'
import { PostgresAdapter, sql, type Kysely } from 'kysely'
import { runInGroup } from './driver/group-commit.ts'
import type { Tables } from './schema/tables.ts'

/** The database; within `inTransaction`, that transaction. */
export type Store = Kysely<Tables>

/** Transactions that others got in the way of are tried so often. */
const TRIES_MAX = 6
/** Rest before the second try, on average; doubled with each. */
const REST_MS = 10
/** PostgreSQL's codes of a serialization failure and a deadlock. */
const MAY_BE_REPEATED = ['40001', '40P01']

/**
 * Returns whether it is PostgreSQL, where others, too, have transactions under way; SQLite has one.
 */
export const isPostgres = (store: Pick<Store, 'getExecutor'>): boolean =>
  store.getExecutor().adapter instanceof PostgresAdapter

/**
 * Runs `work` in a transaction: all of it is stored, or, when it throws, nothing. A conflict with
 * another transaction repeats it: it may change nothing but the database. SQLite shares one
 * transaction among works: there it may wait for nothing else. (PostgreSQL groups commits by
 * itself; works in one transaction would hold all their locks.)
 */
export async function inTransaction<T>(
  store: Store,
  work: (store: Store) => Promise<T>,
): Promise<T> {
  if (!isPostgres(store)) return runInGroup(store, work)
  for (let tries = 1; ; tries += 1) {
    try {
      return await store.transaction().execute(work)
    } catch (error) {
      const { code } = Object(error) as { code?: unknown }
      if (tries === TRIES_MAX || !MAY_BE_REPEATED.includes(String(code))) throw error
    }
    await sleep(REST_MS * 2 ** tries * Math.random()) // else both meet again
  }
}

/**
 * Until the transaction ends, no other one of this `name` goes on from here: for what a transaction
 * decides by rows that another one may be about to add.
 */
export async function oneAtATime(store: Store, name: string): Promise<void> {
  if (!isPostgres(store)) return
  await sql`select pg_advisory_xact_lock(hashtextextended(${name}, 0))`.execute(store)
}
