/** Checks during a long call whether its key is still valid. */

import type { Clock } from '../../shared/clock.ts'
import { ServiceError } from '../../shared/errors.ts'
import { isValid } from './auth.ts'
import { findApiKeys, type KeyWithAccount } from '../store/api-keys.ts'
import type { Store } from '../store/database.ts'
import type { ApiKeyRow } from '../store/schema/tables.ts'

/** All streams of one key share a database query for this long. */
const FRESH_MS = 1_000
/** At most this many keys are remembered; beyond that, the one read longest ago is dropped. */
const KEYS_MAX = 10_000

interface Reading {
  row: Promise<KeyWithAccount | undefined>
  /** By `clock.elapsed`. */
  readAt: number
}

export class KeyChecks {
  readonly #store: Store
  readonly #clock: Clock
  readonly #readings = new Map<string, Reading>()

  constructor({ store, clock }: { store: Store; clock: Clock }) {
    this.#store = store
    this.#clock = clock
  }

  /**
   * Checks a key again.
   * @param key the row that was read when the call began
   * @throws ServiceError `UNAUTHENTICATED` if the key has been revoked or rotated or has expired
   *   since then; `ACCOUNT_DISABLED`
   */
  async assertStillValid(key: ApiKeyRow): Promise<void> {
    const row = await this.#read(key.key_id)
    if (row?.key_hash === key.key_hash && isValid(row, this.#clock.now())) {
      if (row.disabled_at !== null) throw new ServiceError('ACCOUNT_DISABLED')
      return
    }
    throw new ServiceError('UNAUTHENTICATED', {
      message: 'The API key is no longer valid: it was revoked or has expired.',
    })
  }

  #read(keyId: string): Promise<KeyWithAccount | undefined> {
    const now = this.#clock.elapsed()
    const reading = this.#readings.get(keyId)
    if (reading && now < reading.readAt + FRESH_MS) return reading.row
    const row = findApiKeys(this.#store, [keyId]).then((rows) => rows[0])
    this.#readings.delete(keyId) // so that it becomes the newest
    this.#readings.set(keyId, { row, readAt: now })
    const [oldest] = this.#readings.keys()
    if (this.#readings.size > KEYS_MAX && oldest !== undefined) this.#readings.delete(oldest)
    return row
  }
}
