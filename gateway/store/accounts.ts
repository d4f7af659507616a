/** The owners of keys, files and requests. */

import { isId } from '../../shared/ids.ts'
import type { Store } from './database.ts'
import { UNFINISHED } from './requests.ts'
import type { AccountRow, LimitColumns, RequestRow } from './schema/tables.ts'

/** The account of the first key, and of keys that are created without naming an account. */
export const DEFAULT_ACCOUNT = { account_id: 'default', name: 'Default' }

/**
 * The columns of a new account: it is enabled and holds no media. From then on, triggers keep the
 * sums of its media.
 */
export const NEW_ACCOUNT = {
  media_held_bytes: 0,
  media_held_files: 0,
  media_reserved_bytes: 0,
  disabled_at: null,
  deleted_at: null,
  max_calls_per_minute: null,
  max_queued_requests: null,
  max_concurrent_jobs: null,
  max_media_bytes: null,
  max_seconds_per_month: null,
  max_streams: null,
  max_file_bytes: null,
  own_priority: null,
}

/** The columns of an account that a call needs along with its key. */
export const ACCOUNT_COLUMNS = [
  'accounts.disabled_at',
  'accounts.max_calls_per_minute',
  'accounts.max_streams',
  'accounts.max_file_bytes',
] as const

type NewAccount = Pick<AccountRow, 'account_id' | 'name' | 'created_at'> & Partial<AccountRow>

/** Creates the account unless it exists, unmetered unless it says otherwise. */
export async function ensureAccount(store: Store, account: NewAccount): Promise<void> {
  await store
    .insertInto('accounts')
    .values({ ...NEW_ACCOUNT, metered: 0, balance_seconds: 0, reserved_seconds: 0, ...account })
    .onConflict((conflict) => conflict.column('account_id').doNothing())
    .execute()
}

/** @param accountId any text, as an admin may have typed it */
export async function findAccount(store: Store, accountId: string) {
  if (!isId(accountId)) return undefined
  return store
    .selectFrom('accounts')
    .selectAll()
    .where('account_id', '=', accountId)
    .executeTakeFirst()
}

export const accountOf = (
  store: Store,
  { account_id: accountId }: Pick<RequestRow, 'account_id'>,
): Promise<AccountRow> =>
  store
    .selectFrom('accounts')
    .selectAll()
    .where('account_id', '=', accountId)
    .executeTakeFirstOrThrow()

export interface HeldMedia {
  /** Bytes of files and outputs. */
  held: number
  /** How many files, including pending ones. */
  files: number
  /** Bytes reserved for the outputs of unfinished requests. */
  reserved: number
}

export const mediaOf = (account: AccountRow): HeldMedia => ({
  held: account.media_held_bytes,
  files: account.media_held_files,
  reserved: account.media_reserved_bytes,
})

export async function heldMedia(store: Store): Promise<HeldMedia> {
  const { held, files, reserved } = await store
    .selectFrom('accounts')
    .select(({ fn }) => [
      fn.sum<number | null>('media_held_bytes').as('held'),
      fn.sum<number | null>('media_held_files').as('files'),
      fn.sum<number | null>('media_reserved_bytes').as('reserved'),
    ])
    .executeTakeFirstOrThrow()
  return { held: held ?? 0, files: files ?? 0, reserved: reserved ?? 0 }
}

export const listAccounts = (store: Store): Promise<AccountRow[]> =>
  store.selectFrom('accounts').selectAll().orderBy('created_at').orderBy('account_id').execute()

/**
 * Returns disabled accounts with unfinished requests, and deleted ones with any request or file.
 */
export const accountsToClose = (store: Store): Promise<AccountRow[]> =>
  store
    .selectFrom('accounts')
    .selectAll()
    .where('disabled_at', 'is not', null)
    .where(({ and, eb, or, selectFrom }) => {
      const requests = selectFrom('requests')
        .select('request_id')
        .whereRef('requests.account_id', '=', 'accounts.account_id')
        .limit(1)
      const files = selectFrom('files')
        .select('file_id')
        .whereRef('files.account_id', '=', 'accounts.account_id')
        .limit(1)
      // with `exists` PostgreSQL might read all files and requests instead of each account's first
      const hasFile = eb(files, 'is not', null)
      const hasRequest = eb(requests, 'is not', null)
      return or([
        eb(requests.where('status', 'in', UNFINISHED), 'is not', null),
        and([eb('deleted_at', 'is not', null), or([hasRequest, hasFile])]),
      ])
    })
    .execute()

/** Changes the state or the limits of an account, or clears its name when it is deleted. */
export async function updateAccount(
  store: Store,
  accountId: string,
  change: Partial<Pick<AccountRow, 'name' | 'disabled_at' | 'deleted_at'> & LimitColumns>,
): Promise<void> {
  await store.updateTable('accounts').set(change).where('account_id', '=', accountId).execute()
}
