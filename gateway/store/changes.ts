/**
 * The record of changes that admins and tools made, for example to accounts, keys and the models of
 * engines. Rows are only ever added, and hold no secrets.
 */

import { newId } from '../../shared/ids.ts'
import type { Store } from './database.ts'
import { newestFirst, type Page } from './pages.ts'
import type { ChangeRow } from './schema/tables.ts'

export type NewChange = Omit<
  ChangeRow,
  'change_id' | 'details' | 'admin_subject' | 'admin_name'
> & {
  /** The admin who signed in by name. */
  admin_subject?: string | null
  admin_name?: string | null
  /** The values that were set, for people to read. */
  details: Readonly<Record<string, unknown>>
}

/** Adds a change to the record. Call it in the transaction of the change. */
export async function addChange(store: Store, { details, ...change }: NewChange): Promise<void> {
  await store
    .insertInto('changes')
    .values({
      change_id: newId('change'),
      admin_subject: null,
      admin_name: null,
      details: JSON.stringify(details),
      ...change,
    })
    .execute()
}

export async function hasChange(
  store: Store,
  { action, keyId, from }: { action: ChangeRow['action']; keyId: string; from: string },
): Promise<boolean> {
  const row = await store
    .selectFrom('changes')
    .select('change_id')
    .where('created_at', '>=', from)
    .where('action', '=', action)
    .where('key_id', '=', keyId)
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

interface ChangesPage extends Page {
  accountId?: string | undefined
  keyId?: string
  action?: ChangeRow['action'] | undefined
}

/** Counts the changes of some kinds to an account that a tool has made since a time. */
export async function countChanges(
  store: Store,
  {
    accountId,
    tool,
    actions,
    from,
  }: Pick<ChangeRow, 'tool'> & {
    accountId: string
    actions: readonly ChangeRow['action'][]
    from: string
  },
): Promise<number> {
  const { count } = await store
    .selectFrom('changes')
    .select(({ fn }) => fn.countAll().as('count'))
    .where('account_id', '=', accountId)
    .where('created_at', '>=', from)
    .where('tool', '=', tool)
    .where('action', 'in', actions)
    .executeTakeFirstOrThrow()
  return Number(count)
}

/**
 * Returns the latest changes, newest first; only those of an account, a key or an action if one is
 * named.
 */
export function listChanges(store: Store, { accountId, keyId, action, ...page }: ChangesPage) {
  const changes = store
    .selectFrom('changes')
    .selectAll()
    .$if(accountId !== undefined, (query) => query.where('account_id', '=', accountId!))
    .$if(keyId !== undefined, (query) => query.where('key_id', '=', keyId!))
    .$if(action !== undefined, (query) => query.where('action', '=', action!))
  return newestFirst(changes, { id: 'change_id' }, page).execute()
}
