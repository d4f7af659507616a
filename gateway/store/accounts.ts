/** The owners of keys, files and requests. */

import { isId } from '../../shared/ids.ts'
import type { Store } from './database.ts'
import type { AccountRow } from './tables.ts'

/** The account of the first key, and of keys made for no other. */
export const DEFAULT_ACCOUNT = { account_id: 'default', name: 'Default' }

/** A new account holds no media; triggers keep these sums from then on. */
export const NOTHING_HELD = { media_held_bytes: 0, media_reserved_bytes: 0 }

type NewAccount = Pick<AccountRow, 'account_id' | 'name' | 'created_at'> & Partial<AccountRow>

/** Makes the account unless it is there; unmetered unless it says otherwise. */
export async function ensureAccount(store: Store, account: NewAccount): Promise<void> {
  await store
    .insertInto('accounts')
    .values({ ...NOTHING_HELD, metered: 0, balance_seconds: 0, reserved_seconds: 0, ...account })
    .onConflict((conflict) => conflict.column('account_id').doNothing())
    .execute()
}

/** @param accountId any text that an operator may have given */
export async function findAccount(
  store: Store,
  accountId: string,
): Promise<AccountRow | undefined> {
  if (!isId(accountId)) return undefined
  return store
    .selectFrom('accounts')
    .selectAll()
    .where('account_id', '=', accountId)
    .executeTakeFirst()
}

export interface HeldMedia {
  /** Bytes of files and outputs. */
  held: number
  /** Bytes set aside for requests under way. */
  reserved: number
}

/** How much media an account holds, or all together. */
export async function heldMedia(store: Store, accountId?: string): Promise<HeldMedia> {
  const { held, reserved } = await store
    .selectFrom('accounts')
    .select(({ fn }) => [
      fn.sum<number | null>('media_held_bytes').as('held'),
      fn.sum<number | null>('media_reserved_bytes').as('reserved'),
    ])
    .$if(accountId !== undefined, (query) => query.where('account_id', '=', accountId!))
    .executeTakeFirstOrThrow()
  return { held: held ?? 0, reserved: reserved ?? 0 }
}

/** All accounts, oldest first. */
export const listAccounts = (store: Store): Promise<AccountRow[]> =>
  store.selectFrom('accounts').selectAll().orderBy('created_at').orderBy('account_id').execute()
