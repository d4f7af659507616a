/**
 * The ledger of credits, in whole seconds of audio. Entries are only ever added, and each only
 * once; only a reservation may grow when more is known about its request. An account's balance and
 * its reserved seconds are the sums of its entries and change along with them, so every function
 * here belongs in a transaction.
 */

import { ServiceError } from '../../shared/errors.ts'
import type { Store } from './database.ts'
import type { LedgerRow } from './schema/tables.ts'

interface Entry {
  accountId: string
  /** The id of the request, or the reference of a credit. */
  reference: string
  /** At least 0, except for a credit that is taken back. */
  seconds: number
  now: string
}

/** Result of adding an entry; `refused` if the balance that is not reserved does not cover it. */
type EntryResult = 'new' | 'known' | 'refused'
/** False if the balance that is not reserved does not cover it. */
type Coverage = Promise<boolean>

/**
 * Adds to the balance, or takes back what is not reserved.
 * @returns `known` if this credit was given before; `refused` if less would be left than is
 *   reserved
 * @throws ServiceError `IDEMPOTENCY_CONFLICT` if the reference came with another amount before
 */
export async function credit(store: Store, entry: Entry): Promise<EntryResult> {
  const { accountId, reference, seconds } = entry
  const result = await enter(store, 'credit', entry, { balance: seconds })
  if (result !== 'known') return result
  const { balance_change: credited } = await store
    .selectFrom('ledger')
    .select('balance_change')
    .where('reference', '=', reference)
    .where('kind', '=', 'credit')
    .where('account_id', '=', accountId)
    .executeTakeFirstOrThrow()
  if (credited === seconds) return 'known'
  const message =
    `The reference "${reference}" has credited ${credited} s: ` +
    'for another amount give another reference.'
  throw new ServiceError('IDEMPOTENCY_CONFLICT', { message, param: 'reference' })
}

export const reserve = async (store: Store, entry: Entry): Coverage =>
  (await enter(store, 'reserve', entry, { reserved: entry.seconds })) !== 'refused'

/** Like `reserve`, but raises the reservation if fewer seconds are reserved for the request. */
export async function raiseReservation(store: Store, entry: Entry): Promise<boolean> {
  const { accountId, reference, seconds } = entry
  const reservation = await findReservation(store, reference)
  if (!reservation) return reserve(store, entry)
  const more = seconds - reservation.reserved_change
  if (more <= 0) return true
  if (!(await changeAccount(store, accountId, { reserved: more }))) return false
  await store
    .updateTable('ledger')
    .set({ reserved_change: seconds })
    .where('reference', '=', reference)
    .where('kind', '=', 'reserve')
    .execute()
  return true
}

export const reservedFor = async (store: Store, requestId: string): Promise<number> =>
  (await findReservation(store, requestId))?.reserved_change ?? 0

const findReservation = (store: Store, requestId: string): Promise<LedgerRow | undefined> =>
  store
    .selectFrom('ledger')
    .selectAll()
    .where('reference', '=', requestId)
    .where('kind', '=', 'reserve')
    .executeTakeFirst()

/** Deducts what a request costs. Its reservation must have been released before. */
export const deduct = async (store: Store, entry: Entry): Coverage =>
  (await enter(store, 'deduct', entry, { balance: -entry.seconds })) !== 'refused'

/** Releases what is reserved for a request. Returns how many seconds that was. */
export async function releaseReservation(store: Store, requestId: string, now: string) {
  const entry = await findReservation(store, requestId)
  if (!entry) return 0
  const { account_id: accountId, reserved_change: seconds } = entry
  const release = { accountId, reference: requestId, seconds, now }
  await enter(store, 'release', release, { reserved: -seconds })
  return seconds
}

async function enter(
  store: Store,
  kind: LedgerRow['kind'],
  { accountId, reference, now }: Entry,
  { balance = 0, reserved = 0 }: { balance?: number; reserved?: number },
): Promise<EntryResult> {
  const { numInsertedOrUpdatedRows } = await store
    .insertInto('ledger')
    .values({
      reference,
      kind,
      account_id: accountId,
      balance_change: balance,
      reserved_change: reserved,
      created_at: now,
    })
    .onConflict((conflict) => conflict.columns(['reference', 'kind', 'account_id']).doNothing())
    .executeTakeFirst()
  if (numInsertedOrUpdatedRows === 0n) return 'known'
  if (await changeAccount(store, accountId, { balance, reserved })) return 'new'
  await store
    .deleteFrom('ledger')
    .where('reference', '=', reference)
    .where('kind', '=', kind)
    .where('account_id', '=', accountId)
    .execute()
  return 'refused'
}

/** Returns false, and changes nothing, if the balance would not cover what is reserved. */
async function changeAccount(
  store: Store,
  accountId: string,
  { balance = 0, reserved = 0 }: { balance?: number; reserved?: number },
): Promise<boolean> {
  const { numUpdatedRows } = await store
    .updateTable('accounts')
    .set(({ eb }) => ({
      balance_seconds: eb('balance_seconds', '+', balance),
      reserved_seconds: eb('reserved_seconds', '+', reserved),
    }))
    .where('account_id', '=', accountId)
    .where(({ eb, ref }) =>
      eb(eb('balance_seconds', '+', balance), '>=', eb(ref('reserved_seconds'), '+', reserved)),
    )
    .executeTakeFirst()
  return numUpdatedRows === 1n
}

/** Returns the seconds that an account may still use. */
