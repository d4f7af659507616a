/** Follows the states of one request until it is finished, for callers that wait for its end. */

import type { LogLine } from '../../../shared/messages.ts'
import { isTerminal } from '../../../shared/request-status.ts'
import type { RequestFeed, RequestWatch } from './request-feed.ts'
import { findOwn } from '../own-requests.ts'
import { readLogs } from '../../store/request-logs.ts'
import type { KeyWithAccount } from '../../store/api-keys.ts'
import type { RequestRow } from '../../store/schema/tables.ts'
import type { KeyChecks } from '../../accounts/key-checks.ts'
import type { Store } from '../../store/database.ts'

/**
 * How often a row is read even if nobody has reported a change, because a message of another
 * gateway may be lost.
 */
const READ_EVERY_MS = 15_000

export interface WatchDeps {
  store: Store
  keyChecks: Pick<KeyChecks, 'assertStillValid'>
}

export interface WatchOptions {
  /** The key of the request's account; the watch ends when it is no longer valid. */
  key: KeyWithAccount
  requestId: string
  logs: boolean
  /** The status is repeated after this long without a change. */
  intervalMs: number
  /** After this long, the watch ends with the step `timeout`. */
  windowMs: number
}

export interface WatchStep {
  name: 'status' | 'timeout'
  row: RequestRow
  logs: LogLine[] | undefined
}

/**
 * Yields the steps of one watch: the status at once, on every change and after every interval, and
 * `timeout` as the last step when the window ends. The watch ends after a terminal status, or
 * without a further step when `watch` is closed. The key is checked again before each step but the
 * first. A step is made only when it is asked for, so a slow reader skips states instead of piling
 * them up; every status is complete in itself. Closes `watch` at the end.
 * @throws ServiceError `NOT_FOUND`; `UNAUTHENTICATED` once the key is no longer valid
 */
export async function* watchStatus(
  deps: WatchDeps,
  watch: RequestWatch,
  options: WatchOptions,
): AsyncGenerator<WatchStep, void, void> {
  const { intervalMs, windowMs } = options
  const endsAt = performance.now() + windowMs
  try {
    let rows = await readRows(deps, options)
    let readAt = performance.now()
    for (;;) {
      yield { name: 'status', ...rows }
      if (isTerminal(rows.row.status)) return
      const leftMs = Math.max(0, endsAt - performance.now())
      const reason = await watch.wait(Math.min(intervalMs, leftMs))
      if (reason === 'closed') return
      await deps.keyChecks.assertStillValid(options.key)
      if (reason === 'time' && leftMs <= intervalMs) {
        yield { name: 'timeout', ...rows }
        return
      }
      const isOld = performance.now() - readAt >= READ_EVERY_MS
      if (reason !== 'row' && !isOld) continue
      rows = await readRows(deps, options, watch.ended)
      readAt = performance.now()
    }
  } finally {
    watch.close()
  }
}

async function readRows(
  deps: Pick<WatchDeps, 'store'>,
  { key, requestId, logs }: WatchOptions,
  ended?: RequestRow,
): Promise<Pick<WatchStep, 'row' | 'logs'>> {
  const row = ended ?? (await findOwn(deps, key.account_id, requestId))
  return { row, logs: logs ? await readLogs(deps.store, requestId) : undefined }
}

interface EndWait {
  key: KeyWithAccount
  requestId: string
  seconds: number
  /** Ends the wait when it aborts. */
  signal?: AbortSignal
}

/**
 * Waits for the end of a request. Returns undefined if it has not ended in time.
 * @throws ServiceError `RATE_LIMITED` if the account has too many streams open; like `watchStatus`
 */
export async function waitForEnd(
  deps: WatchDeps & { feed: Pick<RequestFeed, 'watch'> },
  { key, requestId, seconds, signal }: EndWait,
): Promise<RequestRow | undefined> {
  const ms = 1_000 * seconds
  const watch = deps.feed.watch(requestId, key.account_id, { ...key, isForEnd: true })
  const close = () => watch.close()
  signal?.addEventListener('abort', close, { once: true })
  if (signal?.aborted) close()
  const options = { key, requestId, logs: false, intervalMs: ms, windowMs: ms }
  for await (const { row } of watchStatus(deps, watch, options)) {
    if (isTerminal(row.status)) return row
  }
  return undefined
}
