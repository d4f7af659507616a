/**
 * Records when keys were last used. Uses are collected and written once a minute, because each
 * write waits for the disk.
 */

import { isoTime, type Clock } from '../../shared/clock.ts'
import { inTransaction, type Store } from '../store/database.ts'
import { noteKeyUse } from '../store/api-keys.ts'

export class KeyUses {
  readonly #store: Store
  readonly #clock: Clock
  /** Epoch milliseconds by key id. Only ids of existing keys get here, so there are few. */
  #unwritten = new Map<string, number>()

  constructor({ store, clock }: { store: Store; clock: Clock }) {
    this.#store = store
    this.#clock = clock
  }

  /** Notes that a call was made with this key, or with a page session of it. */
  note(keyId: string): void {
    this.#unwritten.set(keyId, this.#clock.now())
  }

  /** Writes the uses noted since the last call. If that fails, the next call writes them too. */
  async write(): Promise<void> {
    if (this.#unwritten.size === 0) return
    const uses = this.#unwritten
    this.#unwritten = new Map()
    try {
      await inTransaction(this.#store, async (store) => {
        for (const [keyId, at] of uses) await noteKeyUse(store, keyId, isoTime(at))
      })
    } catch (error) {
      this.#unwritten = new Map([...uses, ...this.#unwritten])
      throw error
    }
  }
}
