/** Changes accounts and keys, for the command-line tools and the admin API. */

import { isoTime, type Clock } from '../../shared/clock.ts'
import { DAY_MS, readDuration } from '../../shared/durations.ts'
import { ServiceError } from '../../shared/errors.ts'
import { newId } from '../../shared/ids.ts'
import {
  checkCreateAccount,
  checkCreateKey,
  checkCredit,
  checkKeyLimits,
  checkLimits,
  type Account,
  type ApiKey,
  type NewApiKey,
} from './schemas.ts'
import { limitColumns, ownLimits } from './limits.ts'
import { hashApiKey, newApiKey, newKeyId } from './auth.ts'
import {
  DEFAULT_ACCOUNT,
  ensureAccount,
  findAccount,
  listAccounts,
  NEW_ACCOUNT,
  updateAccount,
} from '../store/accounts.ts'
import {
  deleteApiKeys,
  findApiKeys,
  listApiKeys,
  putApiKey,
  updateApiKey,
} from '../store/api-keys.ts'
import { addChange, listChanges, type NewChange } from '../store/changes.ts'
import { inTransaction, type Store } from '../store/database.ts'
import { deletePageSessionsOf } from '../store/page-sessions.ts'
import { deleteEndpointsOf } from '../store/webhook-endpoints.ts'
import { credit } from '../store/ledger.ts'
import type { AccountRow, ApiKeyRow, ChangeRow } from '../store/schema/tables.ts'

export interface AccountDeps {
  store: Store
  clock: Clock
}

/** Who makes a change, as the record of changes states it. */
export type Author = Pick<ChangeRow, 'tool' | 'origin'> &
  Partial<Pick<ChangeRow, 'admin_subject' | 'admin_name'>>

export type ChangeDeps = AccountDeps & {
  author: Author
  /** The id of the key that makes the change, if one does. */
  by?: string
}

type KeyBounds = Pick<ApiKeyRow, 'expires_at' | 'own_calls_per_minute' | 'own_priority'>

/** Throws to refuse a change to a key; runs in the transaction of the change. */
export type KeyCheck = (store: Store, key: Omit<ApiKeyRow, 'last_used_at'>) => void | Promise<void>

const VALID_MS_MAX = 100 * 365.25 * DAY_MS

/**
 * Creates an account from `body`, a CreateAccountRequest.
 * @throws ServiceError that names what is wrong with `body`
 */
export async function createAccount(deps: ChangeDeps, body: unknown) {
  const { store, clock } = deps
  const { name, metered = false } = checkCreateAccount(body)
  const row: AccountRow = {
    account_id: newId('acct'),
    name,
    created_at: isoTime(clock.now()),
    metered: metered ? 1 : 0,
    balance_seconds: 0,
    reserved_seconds: 0,
    ...NEW_ACCOUNT,
  }
  await inTransaction(store, async (store) => {
    await ensureAccount(store, row)
    await record({ ...deps, store }, 'account.create', row, { name, metered })
  })
  return presentAccount(row)
}

/** Returns all accounts, oldest first. */
export async function allAccounts({ store }: AccountDeps) {
  return { object: 'list', data: (await listAccounts(store)).map(presentAccount) }
}

/** @throws ServiceError `NOT_FOUND` */
export async function showAccount({ store }: AccountDeps, accountId: string): Promise<Account> {
  const row = await findAccount(store, accountId)
  if (row) return presentAccount(row)
  throw new ServiceError('NOT_FOUND', { message: noAccount(accountId) })
}

/**
 * Refuses all calls of an account from now on and ends its page sessions. The gateways then cancel
 * its unfinished requests. Does nothing if the account is disabled already.
 * @throws ServiceError `NOT_FOUND`
 */
export const disableAccount = (deps: ChangeDeps, accountId: string): Promise<Account> =>
  inTransaction(deps.store, async (store) => {
    const row = await findKept(store, accountId)
    if (row.disabled_at !== null) return presentAccount(row)
    const disabled = { disabled_at: isoTime(deps.clock.now()) }
    await updateAccount(store, accountId, disabled)
    await deletePageSessionsOf(store, accountId)
    await record({ ...deps, store }, 'account.disable', row)
    return presentAccount({ ...row, ...disabled })
  })

/**
 * Admits the keys of a disabled account again. Requests that were canceled stay canceled.
 * @throws ServiceError `NOT_FOUND`
 */
export const enableAccount = (deps: ChangeDeps, accountId: string): Promise<Account> =>
  inTransaction(deps.store, async (store) => {
    const row = await findKept(store, accountId)
    if (row.disabled_at === null) return presentAccount(row)
    await updateAccount(store, accountId, { disabled_at: null })
    await record({ ...deps, store }, 'account.enable', row)
    return presentAccount({ ...row, disabled_at: null })
  })

/**
 * Deletes an account for good. Its keys, page sessions, webhook endpoints and name are gone at
 * once; the gateways then delete its requests and media. Its id remains, as do the ledger, the
 * usage by day and the record of changes.
 * @throws ServiceError `NOT_FOUND`, or `INVALID_PARAMETER` for the default account, which always
 *   exists
 */
export const deleteAccount = (deps: ChangeDeps, accountId: string): Promise<Account> =>
  inTransaction(deps.store, async (store) => {
    const row = await findKept(store, accountId)
    if (accountId === DEFAULT_ACCOUNT.account_id) {
      const message = `The account ${accountId} is always there: disable it instead.`
      throw new ServiceError('INVALID_PARAMETER', { message, param: 'account_id' })
    }
    const now = isoTime(deps.clock.now())
    const deleted = { name: '', disabled_at: row.disabled_at ?? now, deleted_at: now }
    await updateAccount(store, accountId, deleted)
    const keys = await deleteApiKeys(store, accountId)
    await deleteEndpointsOf(store, accountId)
    await record({ ...deps, store }, 'account.delete', row, { keys })
    return presentAccount({ ...row, ...deleted })
  })

/**
 * Sets all limits of an account. For a limit that `body`, a LimitsRequest, leaves out, the settings
 * apply.
 * @throws ServiceError `NOT_FOUND`, or what is wrong with `body`
 */
export function limitAccount(deps: ChangeDeps, accountId: string, body: unknown): Promise<Account> {
  const limits = checkLimits(body)
  return inTransaction(deps.store, async (store) => {
    const row = await findKept(store, accountId)
    await updateAccount(store, accountId, limitColumns(limits))
    await record({ ...deps, store }, 'account.limit', row, limits)
    return presentAccount({ ...row, ...limitColumns(limits) })
  })
}

/**
 * Sets how many calls per minute a key may make, and the highest class of its requests. For what
 * `body`, a KeyLimitsRequest, leaves out, the account's limits apply.
 * @throws ServiceError `NOT_FOUND`, or what is wrong with `body`
 */
export function limitKey(deps: ChangeDeps, keyId: string, body: unknown): Promise<ApiKey> {
  const { calls_per_minute = null, priority = null } = checkKeyLimits(body)
  const limits = { own_calls_per_minute: calls_per_minute, own_priority: priority }
  return inTransaction(deps.store, async (store) => {
    const row = await findKey({ ...deps, store }, keyId)
    await updateApiKey(store, keyId, limits)
    await record({ ...deps, store }, 'key.limit', row, { calls_per_minute, priority })
    return presentKey({ ...row, ...limits })
  })
}

/**
 * Returns an account unless it is deleted.
 * @throws ServiceError `NOT_FOUND`
 */
async function findKept(store: Store, accountId: string): Promise<AccountRow> {
  const row = await findAccount(store, accountId)
  if (row && row.deleted_at === null) return row
  const message = row ? `The account ${accountId} was deleted.` : noAccount(accountId)
  throw new ServiceError('NOT_FOUND', { message })
}

const noAccount = (accountId: string) => `There is no account ${accountId}.`

/**
 * Adds seconds to the balance of an account, or subtracts them. The same reference counts only
 * once.
 * @throws ServiceError `NOT_FOUND`; `INSUFFICIENT_CREDITS` if more is subtracted than is available;
 *   `IDEMPOTENCY_CONFLICT` if the reference came with another amount before; or what is wrong with
 *   `body`, a CreditRequest
 */
export async function creditAccount(deps: ChangeDeps, accountId: string, body: unknown) {
  const { seconds, reference = newId('credit') } = checkCredit(body)
  return inTransaction(deps.store, async (store) => {
    const account = presentAccount(await findKept(store, accountId))
    const now = isoTime(deps.clock.now())
    const credited = await credit(store, { accountId, reference, seconds, now })
    if (credited === 'new') {
      await record({ ...deps, store }, 'account.credit', account, { seconds, reference })
    }
    if (credited !== 'refused') return showAccount({ ...deps, store }, accountId)
    const { balance_seconds: balance, reserved_seconds: reserved } = account
    throw new ServiceError('INSUFFICIENT_CREDITS', {
      message: `Of the account's ${balance} s, ${balance - reserved} s can be taken back.`,
    })
  })
}

/**
 * Creates a key and returns its secret, which is not stored.
 * @param maker the key that creates it; the new key gets its limits and expires no later
 * @throws ServiceError that names what is wrong with `body`, a CreateKeyRequest
 */
export async function createKey(
  deps: ChangeDeps,
  body: unknown,
  { maker, check }: { maker?: KeyBounds; check?: KeyCheck } = {},
): Promise<NewApiKey> {
  const {
    account_id: accountId = DEFAULT_ACCOUNT.account_id,
    name = '',
    ...rest
  } = checkCreateKey(body)
  const { scopes, expires, priority = maker?.own_priority ?? null } = rest
  const now = deps.clock.now()
  const keyId = newKeyId()
  const key = newApiKey(keyId)
  const expiresAt = expires === undefined ? null : isoTime(now + durationMs(expires))
  const row = {
    key_id: keyId,
    account_id: accountId,
    name,
    key_hash: hashApiKey(key),
    scopes: JSON.stringify(scopes),
    created_at: isoTime(now),
    expires_at: maker && outlives(expiresAt, maker.expires_at) ? maker.expires_at : expiresAt,
    revoked_at: null,
    own_calls_per_minute: maker?.own_calls_per_minute ?? null,
    own_priority: priority,
  }
  await inTransaction(deps.store, async (store) => {
    await assertAccount(store, accountId, isoTime(now))
    await check?.(store, row)
    await putApiKey(store, row)
    const details = { name, scopes, expires_at: row.expires_at, ...(priority && { priority }) }
    await record({ ...deps, store }, 'key.create', row, details)
  })
  return { ...presentKey({ ...row, last_used_at: null }), key }
}

/** Returns whether `expiresAt` is later than `other`; null means never. Times sort as text. */
export const outlives = (expiresAt: string | null, other: string | null): boolean =>
  other !== null && (expiresAt === null || expiresAt > other)

/**
 * Checks that an account exists. Creates the default account if it is missing, as the first start
 * does.
 * @throws ServiceError `INVALID_PARAMETER` if there is no such account
 */
export async function assertAccount(store: Store, accountId: string, now: string): Promise<void> {
  if (accountId === DEFAULT_ACCOUNT.account_id) {
    await ensureAccount(store, { ...DEFAULT_ACCOUNT, created_at: now })
  } else if ((await findAccount(store, accountId))?.deleted_at !== null) {
    const message = `account_id: there is no account ${accountId}.`
    throw new ServiceError('INVALID_PARAMETER', { param: 'account_id', message })
  }
}

function durationMs(text: string): number {
  const value = readDuration(text)
  if (value !== undefined && value <= VALID_MS_MAX) return value
  throw new ServiceError('INVALID_PARAMETER', {
    message: 'expires must be a length of time with its unit, such as 30d, 12h or 1y.',
    param: 'expires',
  })
}

/** Returns all keys, or those of one account, oldest first, without their secrets. */
export async function allKeys({ store }: AccountDeps, accountId?: string) {
  return { object: 'list', data: (await listApiKeys(store, accountId)).map(presentKey) }
}

/**
 * Revokes a key, so that every call with it is refused from now on. Does nothing if it is revoked
 * already.
 * @throws ServiceError `NOT_FOUND`
 */
export const revokeKey = (deps: ChangeDeps, keyId: string, check?: KeyCheck): Promise<ApiKey> =>
  inTransaction(deps.store, async (store) => {
    const row = await findKey({ ...deps, store }, keyId)
    await check?.(store, row)
    if (row.revoked_at !== null) return presentKey(row)
    const revoked = { revoked_at: isoTime(deps.clock.now()) }
    await updateApiKey(store, keyId, revoked)
    await record({ ...deps, store }, 'key.revoke', row)
    return presentKey({ ...row, ...revoked })
  })

/**
 * Gives a key a new secret. The old secret is refused from now on; nothing else changes.
 * @throws ServiceError `NOT_FOUND`, or `INVALID_PARAMETER` for a revoked key
 */
export const rotateKey = (deps: ChangeDeps, keyId: string, check?: KeyCheck): Promise<NewApiKey> =>
  inTransaction(deps.store, async (store) => {
    const row = await findKey({ ...deps, store }, keyId)
    await check?.(store, row)
    if (row.revoked_at !== null) {
      const message = `The key ${keyId} is revoked; create another one.`
      throw new ServiceError('INVALID_PARAMETER', { param: 'key_id', message })
    }
    const key = newApiKey(keyId)
    await updateApiKey(store, keyId, { key_hash: hashApiKey(key) })
    await record({ ...deps, store }, 'key.rotate', row)
    return { ...presentKey(row), key }
  })

/** Adds a row to the record of changes; call it in the transaction of the change. */
export const record = (
  { store, clock, author, by }: ChangeDeps,
  action: ChangeRow['action'],
  { account_id = null, key_id = null }: Partial<Pick<ChangeRow, 'account_id' | 'key_id'>>,
  details: NewChange['details'] = {},
): Promise<void> =>
  addChange(store, {
    created_at: isoTime(clock.now()),
    ...author,
    action,
    account_id,
    key_id,
    details: by === undefined ? details : { ...details, by },
  })

const CHANGES_MAX = 1_000

/**
 * Returns the latest changes to accounts and keys, newest first.
 * @throws ServiceError `INVALID_PARAMETER` for a `limit` that is not from 1 to 1000
 */
export async function latestChanges(
  { store }: AccountDeps,
  options: { accountId?: string; keyId?: string; limit: number },
) {
  const { limit } = options
  if (Number.isInteger(limit) && limit >= 1 && limit <= CHANGES_MAX) {
    const rows = await listChanges(store, options)
    return { object: 'list', data: rows.map(({ change_id: _, ...shown }) => shown) }
  }
  const message = `limit must be a whole number from 1 to ${CHANGES_MAX}.`
  throw new ServiceError('INVALID_PARAMETER', { message, param: 'limit' })
}

async function findKey({ store }: AccountDeps, keyId: string): Promise<ApiKeyRow> {
  const [row] = await findApiKeys(store, [keyId])
  if (row) return row
  throw noKey(keyId)
}

export const noKey = (keyId: string) =>
  new ServiceError('NOT_FOUND', { message: `There is no key ${keyId}.` })

const presentAccount = (row: AccountRow): Account => ({
  account_id: row.account_id,
  name: row.name,
  status: row.deleted_at !== null ? 'deleted' : row.disabled_at !== null ? 'disabled' : 'active',
  metered: row.metered === 1,
  balance_seconds: row.balance_seconds,
  reserved_seconds: row.reserved_seconds,
  media_bytes: row.media_held_bytes,
  media_reserved_bytes: row.media_reserved_bytes,
  own_limits: ownLimits(row),
})

export const presentKey = (row: ApiKeyRow): ApiKey => ({
  key_id: row.key_id,
  account_id: row.account_id,
  name: row.name,
  scopes: JSON.parse(row.scopes) as ApiKey['scopes'],
  created_at: row.created_at,
  expires_at: row.expires_at,
  revoked_at: row.revoked_at,
  last_used_at: row.last_used_at,
  calls_per_minute: row.own_calls_per_minute,
  priority: row.own_priority,
})
