import type { Store } from '../../../gateway/store/database.ts'
import { instead } from '../basics/instead.ts'

/** `store`, each transaction of which begins once `before` has ended: as if it came in between. */
export const beforeTransactions = (store: Store, before: () => Promise<unknown>): Store =>
  instead(store, {
    transaction: () => ({
      execute: async (work: (store: Store) => Promise<unknown>) => {
        await before()
        return store.transaction().execute(work)
      },
    }),
    startTransaction: () => ({
      execute: async () => {
        await before()
        return store.startTransaction().execute()
      },
    }),
  } as never)
