import type { Store } from '../../../gateway/store/database.ts'
import { instead } from '../basics/instead.ts'

/**
 * Returns a store that runs `before` ahead of each transaction, as if another process got there
 * first.
 */
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
