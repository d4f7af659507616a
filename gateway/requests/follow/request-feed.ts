/**
 * Follows the changes of requests within this process. It wakes status streams, and keeps the
 * progress of running requests, which is not in the database.
 */

import { ServiceError } from '../../../shared/errors.ts'
import type { Progress } from '../../../shared/messages.ts'
import { limitOf, limitText, type Limit } from '../../accounts/limits.ts'
import type { LimitColumns, RequestRow } from '../../store/schema/tables.ts'

/**
 * Why a watch woke: the row changed, only the progress changed, the time is up, or the watch was
 * closed.
 */
export type WakeReason = 'row' | 'progress' | 'time' | 'closed'

/**
 * At most this many requests have their progress kept; beyond that, the one that reported longest
 * ago is dropped.
 */
const PROGRESS_KEPT_MAX = 10_000

/** A guess, since nobody knows when a stream will end. */
const RETRY_AFTER_SECONDS = 30

/** Options of a watch, with the account's own limit on streams. */
type WatchOptions = { isForEnd?: boolean } & Partial<Pick<LimitColumns, 'max_streams'>>

export class RequestFeed {
  readonly #watches = new Map<string, Set<RequestWatch>>()
  readonly #progress = new Map<string, Progress>()
  readonly #watchesMaxPerAccount: number
  readonly #watchesByAccount = new Map<string, number>()
  readonly #announce: (requestId: string) => void
  #changes = 0
  #closed = false

  /** @param announce publishes a change to the other gateways; the message may be lost */
  constructor(watchesMaxPerAccount: number, announce: (requestId: string) => void = () => {}) {
    this.#watchesMaxPerAccount = watchesMaxPerAccount
    this.#announce = announce
  }

  /** The number of changes to any row so far. While it stays the same, nothing has changed. */
  get changes(): number {
    return this.#changes
  }

  /** The number of open watches, of all accounts. */
  get watches(): number {
    return [...this.#watches.values()].reduce((sum, { size }) => sum + size, 0)
  }

  /**
   * Starts a watch, which misses no change from now on. The caller must close it.
   * @param isForEnd makes it wake only for changes that may be the end of the request
   * @throws ServiceError `RATE_LIMITED` if the account has as many open as it may
   */
  watch(
    requestId: string,
    accountId: string,
    { isForEnd = false, ...own }: WatchOptions = {},
  ): RequestWatch {
    this.#assertRoom(accountId, limitOf(own, 'streams', this.#watchesMaxPerAccount))
    const watches = this.#watches.get(requestId) ?? new Set()
    const watch = new RequestWatch(isForEnd, () => {
      if (watches.delete(watch)) this.#count(accountId, -1) // a watch may be closed twice
      if (watches.size === 0 && this.#watches.get(requestId) === watches) {
        this.#watches.delete(requestId)
      }
    })
    if (this.#closed) watch.close()
    else {
      this.#watches.set(requestId, watches.add(watch))
      this.#count(accountId, 1)
    }
    return watch
  }

  /**
   * Wakes the watches of a request whose row has changed, and tells the other gateways. Call it
   * once the change is committed.
   * @param ended the row, if this change was the end of the request
   */
  rowChanged(requestId: string, ended?: RequestRow): void {
    this.#changes += 1
    for (const watch of this.#watchesOf(requestId)) watch.wake('row', ended ?? null)
    this.#announce(requestId)
  }

  /** Wakes the watches of a request whose row another gateway has changed. */
  rowChangedElsewhere(requestId: string): void {
    this.#changes += 1
    for (const watch of this.#watchesOf(requestId)) watch.wake('row')
  }

  progressed(progress: Progress): void {
    const { request_id: requestId } = progress
    this.#progress.delete(requestId) // so that it becomes the newest
    this.#progress.set(requestId, progress)
    for (const oldest of this.#progress.keys()) {
      if (this.#progress.size <= PROGRESS_KEPT_MAX) break
      this.#progress.delete(oldest)
    }
    for (const watch of this.#watchesOf(requestId)) watch.wake('progress', null)
  }

  /** Returns the attempt's progress from 0 to 1, or undefined if it has reported none. */
  progressOf(requestId: string, attemptId: string | null): number | undefined {
    return this.#latest(requestId, attemptId)?.progress
  }

  /**
   * Returns the least number of seconds that the attempt will still take, as it said last; 0 if it
   * has not said.
   */
  secondsAtLeastOf(requestId: string, attemptId: string | null): number {
    return this.#latest(requestId, attemptId)?.seconds_at_least ?? 0
  }

  /** Returns what the attempt has stored of the live preview, or undefined if nothing. */
  livePreviewOf(requestId: string, attemptId: string | null): Progress['live_preview'] {
    return this.#latest(requestId, attemptId)?.live_preview
  }

  #latest(requestId: string, attemptId: string | null): Progress | undefined {
    const progress = this.#progress.get(requestId)
    return progress?.attempt_id === attemptId ? progress : undefined
  }

  /** Drops the progress of a finished request. */
  forget(requestId: string): void {
    this.#progress.delete(requestId)
  }

  /** Ends all watches. Those started later end at once. */
  close(): void {
    this.#closed = true
    for (const watches of [...this.#watches.values()]) {
      for (const watch of [...watches]) watch.close()
    }
  }

  /** Returns how many watches an account has open at this gateway. */
  watchesOf(accountId: string): number {
    return this.#watchesByAccount.get(accountId) ?? 0
  }

  #assertRoom(accountId: string, limit: Limit): void {
    const open = this.watchesOf(accountId)
    if (open < limit.max) return
    throw new ServiceError('RATE_LIMITED', {
      message:
        `Your account has ${open} of ${limit.max} status streams open, and may have no more; ` +
        `close one ${limitText(limit)}.`,
      retryAfterSeconds: RETRY_AFTER_SECONDS,
    })
  }

  #count(accountId: string, change: number): void {
    const count = (this.#watchesByAccount.get(accountId) ?? 0) + change
    if (count > 0) this.#watchesByAccount.set(accountId, count)
    else this.#watchesByAccount.delete(accountId)
  }

  readonly #watchesOf = (requestId: string): Iterable<RequestWatch> =>
    this.#watches.get(requestId) ?? []
}

/** Watches one request. A reason to wake that comes between two waits is kept for the next wait. */
export class RequestWatch {
  readonly #isForEnd: boolean
  readonly #onClose: () => void
  #ended: RequestRow | undefined
  #missed: 'row' | 'progress' | undefined
  #closed = false
  #wakeWaiting: ((reason: WakeReason) => void) | undefined

  constructor(isForEnd: boolean, onClose: () => void) {
    this.#isForEnd = isForEnd
    this.#onClose = onClose
  }

  /** The request as it ended, if this gateway has ended it. No further change follows. */
  get ended(): RequestRow | undefined {
    return this.#ended
  }

  /** Resolves with the first reason to read the request again, at the latest after `ms`. */
  wait(ms: number): Promise<WakeReason> {
    if (this.#closed) return Promise.resolve('closed')
    const missed = this.#missed
    this.#missed = undefined
    if (missed) return Promise.resolve(missed)
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.#wakeWaiting?.('time'), ms)
      this.#wakeWaiting = (reason) => {
        clearTimeout(timer)
        this.#wakeWaiting = undefined
        resolve(reason)
      }
    })
  }

  /**
   * @param ended the request as it ended; null if it has not ended; undefined if that is unknown
   */
  wake(reason: 'row' | 'progress', ended?: RequestRow | null): void {
    if (ended === null && this.#isForEnd) return
    this.#ended ??= ended ?? undefined
    if (this.#wakeWaiting) this.#wakeWaiting(reason)
    else if (this.#missed !== 'row') this.#missed = reason // a row comes with its progress
  }

  /** Ends the watch; a pending wait resolves with `closed`. */
  close(): void {
    this.#closed = true
    this.#wakeWaiting?.('closed')
    this.#onClose()
  }
}
