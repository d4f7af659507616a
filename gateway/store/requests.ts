/** Stores requests. No other file moves a request from one status to the next. */

import { sql, type NotNull, type SelectQueryBuilder, type Updateable } from 'kysely'
import { isId } from '../../shared/ids.ts'
import type { RequestKind } from '../../shared/request-kind.ts'
import type { Priority } from '../../shared/priority.ts'
import { MAY_MOVE_FROM, type RequestStatus } from '../../shared/request-status.ts'
import { promptsOf, type SeparationOptions } from '../../shared/separation-options.ts'
import { isPostgres, type Store } from './database.ts'
import { releaseReservation } from './ledger.ts'
import { newestFirst, type Page } from './pages.ts'
import type { OutboxRow, RequestRow, Tables } from './schema/tables.ts'

export const UNFINISHED = ['IN_QUEUE', 'IN_PROGRESS'] as const satisfies readonly RequestStatus[]

/** Returns the prompts of a request in the order of its targets; none for a list of sounds. */
export const promptsOfRow = ({
  kind,
  prompt,
  options,
}: Pick<RequestRow, 'kind' | 'prompt' | 'options'>): string[] =>
  kind === 'sounds' ? [] : promptsOf(prompt, JSON.parse(options) as SeparationOptions)

export async function insertRequest(store: Store, row: RequestRow): Promise<void> {
  await store.insertInto('requests').values(row).execute()
}

const requestOf = (store: Store, requestId: string) =>
  store.selectFrom('requests').selectAll().where('request_id', '=', requestId)

/** @param requestId any text, as a client may have sent it */
export const findRequest = async (store: Store, requestId: string) =>
  isId(requestId) ? requestOf(store, requestId).executeTakeFirst() : undefined

/** Like `findRequest`, but no other transaction can change the request until this one ends. */
export const findRequestToChange = (store: Store, requestId: string) =>
  requestOf(store, requestId)
    .$if(isPostgres(store), (query) => query.forNoKeyUpdate())
    .executeTakeFirst()

/**
 * Returns whether a request's outputs are kept, and keeps them from being marked for deletion until
 * the transaction ends.
 */
export const keepOutputs = async (store: Store, requestId: string): Promise<boolean> =>
  (await heldRequest(store, requestId).where('media_removed_at', 'is', null).executeTakeFirst()) !==
  undefined

/** Keeps a request from being deleted until the transaction ends. Returns false if it is gone. */
export const holdRequest = async (store: Store, requestId: string): Promise<boolean> =>
  (await heldRequest(store, requestId).executeTakeFirst()) !== undefined

const heldRequest = (store: Store, requestId: string) =>
  store
    .selectFrom('requests')
    .select('request_id')
    .where('request_id', '=', requestId)
    .$if(isPostgres(store), (query) => query.forKeyShare())

interface RequestPage extends Page {
  kind?: RequestKind | undefined
  status?: RequestStatus | undefined
  createdFrom?: string | undefined
  createdBefore?: string | undefined
}

/** Returns an account's requests, newest first. */
export function listRequests(
  store: Store,
  accountId: string,
  { kind, status, createdFrom, createdBefore, ...page }: RequestPage,
): Promise<RequestRow[]> {
  const requests = store
    .selectFrom('requests')
    .selectAll()
    .where('account_id', '=', accountId)
    .$if(kind !== undefined, (query) => query.where('kind', '=', kind!))
    .$if(status !== undefined, (query) => query.where('status', '=', status!))
    .$if(createdFrom !== undefined, (query) => query.where('created_at', '>=', createdFrom!))
    .$if(createdBefore !== undefined, (query) => query.where('created_at', '<', createdBefore!))
  return newestFirst(requests, { id: 'request_id' }, page).execute()
}

/** Returns requests that failed but were not canceled, newest first. */
export const latestFailures = (store: Store, limit: number): Promise<RequestRow[]> =>
  store
    .selectFrom('requests')
    .selectAll()
    .where('status', '=', 'FAILED')
    .where('error_code', '!=', sql.lit('CANCELED')) // as its index states it
    .orderBy('created_at', 'desc')
    .orderBy('request_id', 'desc')
    .limit(limit)
    .execute()

/** The part of an unfinished request that tells how much work it is. */
export type OpenRequest = Pick<
  RequestRow,
  'request_id' | 'options' | 'duration' | 'attempt_id' | 'priority'
> & { status: (typeof UNFINISHED)[number] }

export const listOpen = (store: Store, accountId: string, limit: number): Promise<RequestRow[]> =>
  store
    .selectFrom('requests')
    .selectAll()
    .where('account_id', '=', accountId)
    .where('status', 'in', UNFINISHED)
    .limit(limit)
    .execute()

/** Returns all unfinished requests, oldest first. */
export function openRequests(store: Store): Promise<OpenRequest[]> {
  const open = (status: RequestStatus) =>
    store
      .selectFrom('requests')
      .select(['request_id', 'status', 'options', 'duration', 'attempt_id', 'priority'])
      .select('created_at') // by which they are sorted
      .where('status', '=', status)
      .$narrowType<Pick<OpenRequest, 'status'>>()
  return oldestFirst(UNFINISHED.map(open)).execute()
}

/**
 * Joins queries for one status each. The database merges them in the order of their index; for one
 * query with several statuses it would sort all rows.
 */
const oldestFirst = <Row>(queries: SelectQueryBuilder<Tables, 'requests', Row>[]) =>
  queries
    .reduce((all, query) => all.unionAll(query))
    .orderBy(sql.ref('created_at'))
    .orderBy(sql.ref('request_id'))

/**
 * Returns the separations that were completed last, latest first: how much work each was, and when.
 */
export const lastCompleted = (store: Store, limit: number) =>
  store
    .selectFrom('requests')
    .select(['engine_id', 'options', 'duration', 'started_at', 'finished_at'])
    .where('kind', '=', 'separate')
    .where('status', '=', 'COMPLETED')
    .where('finished_at', 'is not', null)
    .where('started_at', 'is not', null)
    .where('duration', 'is not', null)
    .orderBy('finished_at', 'desc')
    .limit(limit)
    .$narrowType<{ duration: NotNull; started_at: NotNull; finished_at: NotNull }>()
    .execute()

/** Stores the seconds of a request's media, and the bytes that its outputs take or will take. */
export async function noteMeasured(
  store: Store,
  requestId: string,
  measured: Pick<RequestRow, 'duration' | 'media_bytes'>,
): Promise<void> {
  await store.updateTable('requests').set(measured).where('request_id', '=', requestId).execute()
}

/** Counts the requests that wait, of all accounts or of one, and of its classes, up to `most`. */
export async function countWaiting(
  store: Store,
  most: number,
  { accountId, priority }: { accountId?: string | undefined; priority?: Priority } = {},
): Promise<number> {
  const waiting = store
    .selectFrom('requests')
    .select('status')
    .where('status', '=', 'IN_QUEUE')
    .$if(accountId !== undefined, (query) => query.where('account_id', '=', accountId!))
    .$if(priority !== undefined, (query) => query.where('priority', '=', priority!))
    .limit(most)
    .as('waiting')
  const { count } = await store
    .selectFrom(waiting)
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return Number(count)
}

/** The position of a request in the order of all requests, oldest first. */
export type RequestPosition = Pick<RequestRow, 'created_at' | 'request_id'>

interface PageWithJobs {
  statuses: readonly RequestStatus[]
  /**
   * Only those that changed before `before`, or after `latest` by a clock that was ahead of ours.
   */
  unchanged?: { before: string; latest: string }
  limit: number
  after: RequestPosition
}

/**
 * Returns requests with these statuses that are not in the outbox, so that each of them should have
 * a job.
 */
export function listWithJobs(store: Store, { statuses, unchanged, limit, after }: PageWithJobs) {
  const withJobs = (status: RequestStatus) =>
    store
      .selectFrom('requests')
      .selectAll()
      .where('status', '=', status)
      .where(({ not, exists, selectFrom }) =>
        not(
          exists(
            selectFrom('outbox')
              .select('message_id')
              .whereRef('outbox.request_id', '=', 'requests.request_id'),
          ),
        ),
      )
      .where(({ eb, refTuple, tuple }) =>
        eb(refTuple('created_at', 'request_id'), '>', tuple(after.created_at, after.request_id)),
      )
      .$if(unchanged !== undefined, (query) =>
        query.where(({ eb, or }) =>
          or([eb('updated_at', '<', unchanged!.before), eb('updated_at', '>', unchanged!.latest)]),
        ),
      )
  return oldestFirst(statuses.map(withJobs)).limit(limit).execute()
}

export interface Move {
  requestId: string
  to: RequestStatus
  now: string
  /** Moves only a request that this attempt holds. */
  attemptId?: string
  /** Columns to change with the status. */
  set?: Updateable<Tables['requests']>
}

/**
 * Moves a request to a status that may follow its own. Returns undefined if it has already moved
 * on. Call it in a transaction, because a failure also releases the reservation, as `charge` does
 * for a completed request. Terminal moves go through `finish-request.ts`, which writes what comes
 * with them.
 */
export async function moveRequest(store: Store, move: Move): Promise<RequestRow | undefined> {
  const row = await store
    .updateTable('requests')
    .set({ ...move.set, status: move.to, updated_at: move.now })
    .where('request_id', '=', move.requestId)
    .where('status', 'in', MAY_MOVE_FROM[move.to])
    .$if(move.attemptId !== undefined, (query) => query.where('attempt_id', '=', move.attemptId!))
    .returningAll()
    .executeTakeFirst()
  if (!row) return undefined
  if (move.to === 'FAILED') await releaseReservation(store, move.requestId, move.now)
  return row
}

export async function renameRequest(store: Store, requestId: string, fileName: string) {
  await store
    .updateTable('requests')
    .set({ file_name: fileName })
    .where('request_id', '=', requestId)
    .execute()
}

/** Returns whether the attempt with this id has already started. */
export const isKnownAttempt = (row: RequestRow, attemptId: string): boolean =>
  row.attempt_ids.includes(markOf(attemptId))

const markOf = (attemptId: string): string => `${attemptId} `

/**
 * Notes that the device seconds of an attempt are counted, so that they are counted once.
 * @returns the id of the account; undefined if they were counted before, or the request is deleted
 */
export async function noteCounted(store: Store, requestId: string, attemptId: string) {
  const mark = markOf(attemptId)
  const row = await store
    .updateTable('requests')
    .set({ counted_attempt_ids: sql`counted_attempt_ids || ${mark}` })
    .where('request_id', '=', requestId)
    .where('counted_attempt_ids', 'not like', `%${mark}%`)
    .returning('account_id')
    .executeTakeFirst()
  return row?.account_id
}

interface Start {
  requestId: string
  attemptId: string
  engineId: string
  /** When the engine began, by its own clock. */
  startedAt: string
  now: string
  /** A stored start later than this, by the gateway's clock, comes from a clock that was ahead. */
  latest: string
}

/**
 * Gives a request to a new attempt. Returns undefined if the request is finished, if the attempt
 * has started before, or if the attempt that holds the request, or held it last, began later.
 */
export function startAttempt(store: Store, start: Start): Promise<RequestRow | undefined> {
  const mark = markOf(start.attemptId)
  return store
    .updateTable('requests')
    .set({
      status: 'IN_PROGRESS',
      updated_at: start.now,
      started_at: start.startedAt,
      attempt_id: start.attemptId,
      attempt_ids: sql`attempt_ids || ${mark}`,
      attempts: sql`attempts + 1`,
      engine_id: start.engineId,
    })
    .where('request_id', '=', start.requestId)
    .where('status', 'in', MAY_MOVE_FROM.IN_PROGRESS)
    .where('attempt_ids', 'not like', `%${mark}%`)
    .where(({ eb, or }) =>
      or([
        eb('started_at', 'is', null),
        eb('started_at', '<=', start.startedAt),
        eb('started_at', '>', start.latest),
      ]),
    )
    .returningAll()
    .executeTakeFirst()
}

/**
 * Stores the sequence of a request's job in the broker stream, unless the job is no longer in the
 * outbox, because another gateway has handed it over or the request has ended.
 * @returns the status of the request, if the sequence was stored
 */
export async function setJobSequence(
  store: Store,
  { request_id: requestId, message_id: messageId }: Pick<OutboxRow, 'request_id' | 'message_id'>,
  sequence: number,
): Promise<RequestStatus | undefined> {
  const row = await store
    .updateTable('requests')
    .set({ job_sequence: sequence })
    .where('request_id', '=', requestId)
    .where(({ exists, selectFrom }) =>
      exists(selectFrom('outbox').select('message_id').where('message_id', '=', messageId)),
    )
    .returning('status')
    .executeTakeFirst()
  return row?.status
}

/** Puts an unfinished request back in the queue, unless it has changed since `row` was read. */
export async function requeueRequest(
  store: Store,
  row: RequestRow,
  { now, interruptions }: { now: string; interruptions: number },
): Promise<boolean> {
  const { numUpdatedRows } = await store
    .updateTable('requests')
    .set({
      status: 'IN_QUEUE',
      updated_at: now,
      job_sequence: null,
      requeues: row.requeues + 1,
      interruptions,
    })
    .where('request_id', '=', row.request_id)
    .where('status', 'in', UNFINISHED)
    .where('updated_at', '=', row.updated_at)
    .executeTakeFirst()
  return numUpdatedRows === 1n
}
