/**
 * Group commit for SQLite: works that are ready at the same moment share one transaction, and so
 * one flush of the disk. Each of them is stored completely or not at all.
 */

import { AsyncResource } from 'node:async_hooks'
import type { ControlledTransaction, Kysely } from 'kysely'
import type { Tables } from '../schema/tables.ts'

/** A longer transaction would delay other writers. */
const WORKS_MAX = 64
const SAVEPOINT = 'one_work'

type Store = Kysely<Tables>

interface WaitingWork {
  run: (store: Store) => Promise<unknown>
  resolve: (value: unknown) => void
  reject: (reason: unknown) => void
}

const groups = new WeakMap<Store, WaitingWork[]>()

/**
 * Runs `work` in a transaction that it may share: everything is stored, or nothing if it throws.
 * Resolves once the transaction is committed. Calls run in order, so `work` must not wait for
 * anything but the database.
 */
export function runInGroup<T>(store: Store, work: (store: Store) => Promise<T>): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const run = AsyncResource.bind(work) // in its own async context, whoever began the group
    const waiting = { run, resolve: resolve as WaitingWork['resolve'], reject }
    const group = groups.get(store)
    if (group) {
      group.push(waiting)
      return
    }
    groups.set(store, [waiting])
    // After the socket events of this round, which may add more works.
    setImmediate(() => void runGroups(store))
  })
}

async function runGroups(store: Store): Promise<void> {
  const waiting = groups.get(store) ?? []
  while (waiting.length > 0) {
    const works = waiting.splice(0, WORKS_MAX)
    try {
      await runGroup(await store.startTransaction().execute(), works)
    } catch (error) {
      // The transaction could not begin. The works behind these would wait just as long, and in
      // vain.
      for (const { reject } of [...works, ...waiting.splice(0)]) reject(error)
    }
  }
  groups.delete(store)
}

async function runGroup(transaction: ControlledTransaction<Tables>, works: readonly WaitingWork[]) {
  const run = works.length === 1 ? runAlone : runOne
  const settlements: (() => void)[] = []
  try {
    for (const work of works) settlements.push(await run(transaction, work))
    await transaction.commit().execute()
  } catch (error) {
    await transaction
      .rollback()
      .execute()
      .catch(() => undefined) // it may have ended already
    // Nothing is stored, or if the flush failed, nobody knows whether it is.
    for (const { reject } of works) reject(error)
    return
  }
  for (const settle of settlements) settle()
}

/** Like `runOne`, for a transaction that is not shared. */
async function runAlone(
  transaction: ControlledTransaction<Tables>,
  { run, resolve }: WaitingWork,
): Promise<() => void> {
  const value = await run(transaction)
  return () => resolve(value)
}

/** Returns a function that settles the work's promise after the commit. */
async function runOne(
  transaction: ControlledTransaction<Tables>,
  { run, resolve, reject }: WaitingWork,
): Promise<() => void> {
  const guarded = await transaction.savepoint(SAVEPOINT).execute()
  try {
    const value = await run(guarded)
    await guarded.releaseSavepoint(SAVEPOINT).execute()
    return () => resolve(value)
  } catch (error) {
    await guarded.rollbackToSavepoint(SAVEPOINT).execute()
    await guarded.releaseSavepoint(SAVEPOINT).execute()
    return () => reject(error)
  }
}
