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
  /** Epoch milliseconds by the id of a key that is there, so that they are few. */
  #unwritten = new Map<string, number>()

  constructor({ store, clock }: { store: Store; clock: Clock }) {
    this.#store = store
    this.#clock = clock
  }

  /** A call was made with this key, or with a session of it. */
  note(keyId: string): void {
    this.#unwritten.set(keyId, this.#clock.now())
  }

  /** Writes what was noted since; when it fails, the next call writes it too. */
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
