/** Positions in the queue: one query serves all callers, and none is made while nothing changes. */

import type { Clock } from '../../shared/clock.ts'
import type { RequestFeed } from './request-feed.ts'
import type { Store } from '../store/database.ts'
import { queuedRequestIds } from '../store/requests.ts'

const AGE_MS_MAX = 1_000

interface Snapshot {
  changes: number
  /** By `clock.elapsed`. */
  takenAt: number
  positions: Promise<ReadonlyMap<string, number>>
}

export class QueuePositions {
  readonly #store: Store
  readonly #feed: RequestFeed
  readonly #clock: Clock
  #snapshot: Snapshot | undefined

  constructor({ store, feed, clock }: { store: Store; feed: RequestFeed; clock: Clock }) {
    this.#store = store
    this.#feed = feed
    this.#clock = clock
  }

  /** Of a request in the queue: 1 when it is next. At most a second old. */
  async of(requestId: string): Promise<number> {
    const positions = await this.#current()
    return positions.get(requestId) ?? positions.size + 1 // newer than the last query
  }

  #current(): Snapshot['positions'] {
    const [now, changes] = [this.#clock.elapsed(), this.#feed.changes]
    const snapshot = this.#snapshot
    if (snapshot && (snapshot.changes === changes || now - snapshot.takenAt < AGE_MS_MAX)) {
      return snapshot.positions
    }
    const positions = queuedRequestIds(this.#store).then(
      (ids) => new Map(ids.map((id, index) => [id, index + 1])),
    )
    this.#snapshot = { changes, takenAt: now, positions }
    positions.catch(() => {
      this.#snapshot = undefined
    })
    return positions
  }
}
