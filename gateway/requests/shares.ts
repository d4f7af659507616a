/**
 * Manages shares, which are addresses that play one result without a key, until a date or until
 * they are revoked (docs/decisions/accounts.md).
 */

import { randomBytes } from 'node:crypto'
import { isoTime, type Clock } from '../../shared/clock.ts'
import { HOUR_MS } from '../../shared/durations.ts'
import { ServiceError } from '../../shared/errors.ts'
import { newId } from '../../shared/ids.ts'
import { hashApiKey } from '../accounts/auth.ts'
import {
  SHARE_SECONDS,
  type NewShare,
  type Share,
  type SharedResult,
} from '../api/share-schemas.ts'
import { inTransaction, oneAtATime, type Store } from '../store/database.ts'
import { findRequest, holdRequest, promptsOfRow } from '../store/requests.ts'
import type { RequestRow, ShareRow } from '../store/schema/tables.ts'
import { deleteShare, findShare, insertShare, listShares } from '../store/shares.ts'
import { assertHasOutputs, assertResult, findOwn } from './own-requests.ts'
import { partUrl, presentData, type MediaPresenter } from './present/presenter.ts'
import type { Settings } from '../config.ts'

export interface ShareDeps {
  store: Store
  clock: Clock
  config: Settings<'publicUrl'>
}

export type SharedResultDeps = ShareDeps & MediaPresenter

/** The most active shares. */
export const SHARES_MAX = { perRequest: 10, perAccount: 200 } as const

/** The addresses of a shared result are valid for this long plus the length of the media. */
const ADDRESS_MS = HOUR_MS

/**
 * Creates an address that plays the result of one of the account's requests. It expires with the
 * outputs at the latest.
 * @throws ServiceError `NOT_FOUND`, `RESULT_NOT_READY`, `REQUEST_FAILED`, `RATE_LIMITED`, or
 *   `INVALID_PARAMETER` for a list of sounds
 */
export async function createShare(
  deps: ShareDeps,
  accountId: string,
  requestId: string,
  seconds: number = SHARE_SECONDS.default,
): Promise<NewShare> {
  const { store, clock, config } = deps
  const row = await findOwn(deps, accountId, requestId)
  const now = clock.now()
  assertHasOutputs(row)
  assertResult(row, now)
  const secret = `shr_${randomBytes(32).toString('hex')}`
  const requestedEnd = isoTime(now + 1_000 * seconds)
  const share: ShareRow = {
    share_id: newId('share'),
    secret_hash: hashApiKey(secret),
    request_id: row.request_id,
    account_id: accountId,
    created_at: isoTime(now),
    expires_at: earlier(requestedEnd, row.outputs_expire_at ?? requestedEnd),
  }
  await inTransaction(store, async (store) => {
    await oneAtATime(store, `shares ${accountId}`)
    if (!(await holdRequest(store, requestId))) throw new ServiceError('NOT_FOUND')
    assertRoom(await listShares(store, accountId, share.created_at), requestId, now)
    await insertShare(store, share)
  })
  // Browsers do not send the fragment, so the secret appears in no log.
  return { ...presentShare(share), url: `${config.publicUrl()}/#share=${secret}` }
}

function assertRoom(shares: readonly ShareRow[], requestId: string, now: number): void {
  const ofRequest = shares.filter((share) => share.request_id === requestId)
  const isFull = ofRequest.length >= SHARES_MAX.perRequest
  if (!isFull && shares.length < SHARES_MAX.perAccount) return
  const [whose, full, most] = isFull
    ? ['A request', ofRequest, SHARES_MAX.perRequest]
    : ['An account', shares, SHARES_MAX.perAccount]
  const firstEnd = full.map((share) => share.expires_at).reduce(earlier)
  throw new ServiceError('RATE_LIMITED', {
    message:
      `${whose} may have ${most} shares at once. Revoke one; the next of them expires at ` +
      `${firstEnd}.`,
    retryAfterSeconds: Math.ceil((Date.parse(firstEnd) - now) / 1_000),
  })
}

/** Returns the earlier of two times from the database, which sort as text. */
const earlier = (one: string, other: string): string => (one < other ? one : other)

const presentShare = ({ share_id, request_id, created_at, expires_at }: ShareRow): Share => ({
  share_id,
  request_id,
  created_at,
  expires_at,
})

export async function ownShares({ store, clock }: ShareDeps, accountId: string) {
  const shares = await listShares(store, accountId, isoTime(clock.now()))
  return { object: 'list', data: shares.map(presentShare) }
}

/** @throws ServiceError `NOT_FOUND` */
export async function revokeShare({ store }: ShareDeps, accountId: string, shareId: string) {
  const share = await deleteShare(store, accountId, shareId)
  if (share) return presentShare(share)
  throw new ServiceError('NOT_FOUND', { message: 'There is no share with this id.' })
}

/** @throws ServiceError `UNAUTHENTICATED` */
export async function openShare({ store, clock }: ShareDeps, secret: string | undefined) {
  const now = isoTime(clock.now())
  const share = secret === undefined ? undefined : await findShare(store, hashApiKey(secret), now)
  if (share) return share
  throw new ServiceError('UNAUTHENTICATED', {
    message: 'This shared result is unknown, has expired or was revoked. Ask for a new address.',
  })
}

/**
 * Returns the shared result, without anything that identifies its account.
 * @throws ServiceError `NOT_FOUND` once its outputs are deleted
 */
export async function sharedResult(deps: SharedResultDeps, share: ShareRow): Promise<SharedResult> {
  const row = await findRequest(deps.store, share.request_id)
  if (!row) throw new ServiceError('NOT_FOUND')
  const now = deps.clock.now()
  assertResult(row, now)
  const expiresAt = addressesEnd(row, share, now)
  const peaks = await partUrl(row, 'peaks', deps, expiresAt)
  return {
    file_name: row.file_name,
    prompts: promptsOfRow(row),
    data: await presentData(row, deps, expiresAt),
    ...(peaks !== undefined && { peaks_url: peaks }),
    expires_at: share.expires_at,
  }
}

/**
 * Returns when addresses expire: late enough that media that is playing can play to its end, unless
 * the share expires first.
 */
const addressesEnd = ({ duration }: RequestRow, share: ShareRow, now: number): number =>
  Math.min(now + ADDRESS_MS + 1_000 * (duration ?? 0), Date.parse(share.expires_at))
