/**
 * Prices for metered accounts. A separation costs the length of its media in seconds, rounded up,
 * once for each target. A list of sounds costs a tenth of the length, once.
 * The cost of a request is reserved as soon as it is known, so that concurrent requests cannot
 * overdraw the balance. All functions that take a `store` run in the caller's transaction.
 */

import { ServiceError } from '../../shared/errors.ts'
import type { Store } from '../store/database.ts'
import {
  deduct,
  raiseReservation,
  releaseReservation,
  reserve,
  reservedFor,
} from '../store/ledger.ts'
import { promptsOfRow } from '../store/requests.ts'
import type { AccountRow, RequestRow } from '../store/schema/tables.ts'

type PricedRequest = Pick<RequestRow, 'kind' | 'prompt' | 'options'>
type ChargedRequest = PricedRequest & Pick<RequestRow, 'request_id' | 'account_id'>

/** A request, with its account as the transaction has read it. */
export interface Payment {
  row: ChargedRequest & Pick<RequestRow, 'duration'>
  account: AccountRow
}

/**
 * Media of unknown length counts as this many seconds until it is measured. A list of sounds costs
 * at least as much.
 */
const LEAST_SECONDS = 1
/** Seconds of media for which a list of sounds costs one second. */
const LISTED_SECONDS = 10

/** Returns what a request for media of `duration` seconds costs, in seconds. */
export const costOf = (row: PricedRequest, duration: number): number =>
  row.kind === 'sounds'
    ? Math.max(LEAST_SECONDS, Math.ceil(duration / LISTED_SECONDS))
    : Math.ceil(duration) * promptsOfRow(row).length

/**
 * Reserves what a new request costs, if an earlier request has measured its media. Otherwise
 * reserves the cost of the shortest media, so that no more requests wait than the balance could pay
 * for.
 * @throws ServiceError `INSUFFICIENT_CREDITS`
 */
export async function reserveAtSubmit(store: Store, { row, account }: Payment, now: string) {
  if (!isMetered(account)) return
  const { duration } = row
  if (await reserve(store, entryOf(row, duration ?? LEAST_SECONDS, now))) return
  const message = shortfall(account, row, duration)
  throw new ServiceError('INSUFFICIENT_CREDITS', { message })
}

/**
 * Reserves what a request costs once an engine has measured its media, unless the length was known
 * before.
 * @returns why the request cannot continue, or null if the cost is covered
 */
export async function reserveMeasured(
  store: Store,
  { row, account }: Payment,
  duration: number,
  now: string,
): Promise<string | null> {
  if (!isMetered(account) || row.duration !== null) return null
  if (await raiseReservation(store, entryOf(row, duration, now))) return null
  const reservation = await reservedFor(store, row.request_id)
  return shortfall(
    { ...account, reserved_seconds: account.reserved_seconds - reservation },
    row,
    duration,
  )
}

type Charge =
  | { billing: NonNullable<RequestRow['billing_status']> }
  /** Why the request cannot be completed. */
  | { shortfall: string }

/**
 * Releases the reservation of a request that is about to be COMPLETED, and charges it if its
 * account is metered.
 */
export async function charge(
  store: Store,
  { row, account }: Payment,
  duration: number,
  now: string,
): Promise<Charge> {
  const { reserved_seconds: reserved } = account // includes this request's reservation
  const reservation = reserved > 0 ? await releaseReservation(store, row.request_id, now) : 0
  if (!isMetered(account)) return { billing: 'not_metered' }
  if (await deduct(store, entryOf(row, duration, now))) return { billing: 'deducted' }
  return {
    shortfall: shortfall({ ...account, reserved_seconds: reserved - reservation }, row, duration),
  }
}

const isMetered = (account: AccountRow): boolean => account.metered === 1

const entryOf = (row: ChargedRequest, duration: number, now: string) => ({
  accountId: row.account_id,
  reference: row.request_id,
  seconds: costOf(row, duration),
  now,
})

/** Tells people what is missing; `duration` is null while it is unknown. */
function shortfall(account: AccountRow, row: PricedRequest, duration: number | null): string {
  const { balance_seconds: balance, reserved_seconds: reserved } = account
  const left =
    `the account has ${balance} s` +
    (reserved > 0 ? `, of which ${reserved} s are reserved for other requests` : '')
  return duration === null
    ? `A request needs credits, but ${left}.`
    : `The media costs ${costOf(row, duration)} s, but ${left}.`
}
