/** The keys that open the API, kept as hashes. */

import type { Store } from './database.ts'
import type { ApiKeyRow } from './tables.ts'

/** Stores the key in place of the one of the same id, if there is one. */
export async function putApiKey(store: Store, { key_id, ...rest }: ApiKeyRow): Promise<void> {
  await store.insertInto('api_keys').values({ key_id, ...rest })
    .onConflict((conflict) => conflict.column('key_id').doUpdateSet(rest)).execute()
}

export const findApiKeyByHash = (store: Store, keyHash: string): Promise<ApiKeyRow | undefined> =>
  store.selectFrom('api_keys').selectAll().where('key_hash', '=', keyHash).executeTakeFirst()

export async function hasApiKeys(store: Store): Promise<boolean> {
  const key = await store.selectFrom('api_keys').select('key_id').limit(1).executeTakeFirst()
  return key !== undefined
}
