/**
 * The database as the rest of the gateway uses it, whether SQLite or PostgreSQL, and its
 * transactions.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import { PostgresAdapter, sql, type Kysely } from 'kysely'
import { runInGroup } from './driver/group-commit.ts'
import type { Tables } from './schema/tables.ts'

/** The database, or within `inTransaction` that transaction. */
export type Store = Kysely<Tables>

/** How often a transaction is attempted if others conflict with it. */
const TRIES_MAX = 6
/** The average pause before the second attempt; it doubles with each further one. */
const REST_MS = 10
/** PostgreSQL's codes for a serialization failure and a deadlock. */
const MAY_BE_REPEATED = ['40001', '40P01']

/**
 * Returns whether the database is PostgreSQL, where several transactions run at once. In SQLite
 * only one does.
 */
export const isPostgres = (store: Pick<Store, 'getExecutor'>): boolean =>
  store.getExecutor().adapter instanceof PostgresAdapter

/**
 * Runs `work` in a transaction: everything is stored, or nothing if it throws. `work` is repeated
 * after a conflict with another transaction, so it must not change anything but the database. With
 * SQLite, several works share a transaction, so `work` must not wait for anything but the database.
 * (PostgreSQL groups commits by itself, and works in one transaction would hold all their locks.)
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
    await sleep(REST_MS * 2 ** tries * Math.random()) // a random pause, or both would collide again
  }
}

/**
 * Lets no other transaction with this `name` go on from here until this one ends. Use it where a
 * transaction decides by rows that another one may be about to add.
 */
export async function oneAtATime(store: Store, name: string): Promise<void> {
  if (!isPostgres(store)) return
  await sql`select pg_advisory_xact_lock(hashtextextended(${name}, 0))`.execute(store)
}
