/** Shows admins the requests, webhooks, usage, storage and changes of all accounts. */

import { Type, type Static } from 'typebox'
import { dayOfTime, isoTime, type Clock } from '../../shared/clock.ts'
import { DAY_MS } from '../../shared/durations.ts'
import { ServiceError } from '../../shared/errors.ts'
import { PRIORITIES } from '../../shared/priority.ts'
import { REQUEST_KINDS } from '../../shared/request-kind.ts'
import { REQUEST_STATUSES, type RequestStatus } from '../../shared/request-status.ts'
import type { SeparationOptions } from '../../shared/separation-options.ts'
import { record, type ChangeDeps } from '../accounts/accounts.ts'
import { limitOf } from '../accounts/limits.ts'
import { pagedListOf } from '../api/list-schemas.ts'
import { pageOf, pageStartOf, startAt } from '../api/pagination.ts'
import { Count, DateTime, Nullable, WebhookDeliveryStatus } from '../api/schemas.ts'
import { WebhookAttempt } from '../api/webhook-schemas.ts'
import type { Settings } from '../config.ts'
import type { RequestFeed } from '../requests/follow/request-feed.ts'
import { alreadyFinished, cancelIfUnfinished, type CancelDeps } from '../requests/own-requests.ts'
import {
  bytesThatExpire,
  listAllDeliveries,
  listAllRequests,
  useOfAccounts,
} from '../store/all-accounts.ts'
import { listChanges } from '../store/changes.ts'
import { inTransaction, type Store } from '../store/database.ts'
import { findRequest, promptsOfRow, UNFINISHED } from '../store/requests.ts'
import type { ChangeRow, RequestRow } from '../store/schema/tables.ts'
import type { DeliveryState } from '../store/schema/webhook-tables.ts'
import { presentListed, redeliver, type RedeliveryDeps } from '../webhooks/delivery-status.ts'

export const AdminRequest = Type.Object(
  {
    request_id: Type.String(),
    account_id: Type.String(),
    kind: Type.Enum([...REQUEST_KINDS]),
    status: Type.Enum([...REQUEST_STATUSES]),
    priority: Type.Enum([...PRIORITIES]),
    prompts: Type.Array(Type.String()),
    file_name: Type.String(),
    separator: Nullable(Type.String(), {
      description: 'The model that the client chose; `null` if the service chooses.',
    }),
    created_at: DateTime,
    started_at: Nullable(DateTime),
    finished_at: Nullable(DateTime),
    duration: Nullable(Type.Number(), { description: 'Seconds of media.' }),
    progress: Nullable(Type.Number({ minimum: 0, maximum: 1 })),
    engine_id: Nullable(Type.String()),
    attempts: Count,
    error_code: Nullable(Type.String()),
    error_message: Nullable(Type.String()),
  },
  { title: 'AdminRequest' },
)
export const AdminRequestList = pagedListOf(AdminRequest, 'AdminRequestList')

export const AdminDelivery = Type.Object(
  {
    webhook_id: Type.String({ description: 'The value of the header `webhook-id`.' }),
    request_id: Type.String(),
    account_id: Type.String(),
    endpoint_id: WebhookAttempt.properties.endpoint_id,
    host: WebhookAttempt.properties.host,
    created_at: DateTime,
    ...WebhookDeliveryStatus.properties,
    next_attempt_at: Nullable(DateTime),
  },
  { title: 'AdminDelivery', description: 'A webhook for one receiver.' },
)
export const AdminDeliveryList = pagedListOf(AdminDelivery, 'AdminDeliveryList')

export const AdminChange = Type.Object(
  {
    created_at: DateTime,
    tool: Type.String({ description: 'For example `admin_api`.' }),
    origin: Type.String({ description: "The client's address, or user and host." }),
    admin_subject: Nullable(
      Type.String({ description: 'The admin who signed in, as the provider knows them.' }),
    ),
    admin_name: Nullable(Type.String({ description: "The admin's e-mail address or name." })),
    action: Type.String({ description: 'For example `key.revoke`.' }),
    account_id: Nullable(Type.String()),
    key_id: Nullable(Type.String()),
    details: Type.String({ description: 'What was set, as JSON without secrets.' }),
  },
  { title: 'AdminChange' },
)
export const AdminChangeList = pagedListOf(AdminChange, 'AdminChangeList')

const USE_DAYS = 30

export const AdminUsage = Type.Object(
  {
    at: DateTime,
    days: Type.Integer({ description: 'Number of days counted, of which today is the last.' }),
    data: Type.Array(
      Type.Object(
        {
          account_id: Type.String(),
          completed: Type.Integer({ minimum: 0, description: 'Completed requests.' }),
          failed: Type.Integer({
            minimum: 0,
            description: 'Failed requests, including canceled ones.',
          }),
          audio_seconds: Type.Number({ minimum: 0, description: 'Seconds as charged.' }),
          device_seconds: Type.Number({ minimum: 0, description: "Seconds of engines' devices." }),
          added_bytes: Type.Integer({
            minimum: 0,
            description: 'Media that was stored in the last 24 hours and is still held.',
          }),
          media_bytes_max: Nullable(Type.Integer(), {
            description: 'The limit for its media; null: no limit.',
          }),
        },
        { title: 'AccountUse' },
      ),
      { description: 'Every account that is not deleted.' },
    ),
    expiring_bytes: Type.Integer({
      minimum: 0,
      description: 'Media of all accounts that expires in the next 24 hours.',
    }),
  },
  { title: 'AdminUsage' },
)

export interface OverviewDeps {
  store: Store
  clock: Clock
  config: Settings<'mediaBytesMaxPerAccount'>
  feed: Pick<RequestFeed, 'progressOf'>
}

interface PageQuery {
  limit: number
  cursor: unknown
  accountId?: string | undefined
}

/** Returns the requests of all accounts, newest first; without `status`, only unfinished ones. */
export async function allRequests(
  { store, feed }: OverviewDeps,
  { limit, cursor, accountId, status }: PageQuery & { status: RequestStatus | undefined },
): Promise<Static<typeof AdminRequestList>> {
  const rows = await listAllRequests(store, {
    statuses: status === undefined ? UNFINISHED : [status],
    accountId,
    limit: limit + 1,
    after: pageStartOf(cursor),
  })
  const { page, next_cursor } = pageOf(rows, limit, (last) => startAt(last, last.request_id))
  return { object: 'list', data: page.map((row) => presentRequest(row, feed)), next_cursor }
}

const presentRequest = (
  row: RequestRow,
  feed: OverviewDeps['feed'],
): Static<typeof AdminRequest> => ({
  request_id: row.request_id,
  account_id: row.account_id,
  kind: row.kind,
  status: row.status,
  priority: row.priority,
  prompts: promptsOfRow(row),
  file_name: row.file_name,
  separator: (JSON.parse(row.options) as Partial<SeparationOptions>).separator ?? null,
  created_at: row.created_at,
  started_at: row.started_at,
  finished_at: row.finished_at,
  duration: row.duration,
  progress: feed.progressOf(row.request_id, row.attempt_id) ?? null,
  engine_id: row.engine_id,
  attempts: row.attempts,
  error_code: row.error_code,
  error_message: row.error_message,
})

export async function allDeliveries(
  { store }: Pick<OverviewDeps, 'store'>,
  { limit, cursor, state }: PageQuery & { state: DeliveryState | undefined },
): Promise<Static<typeof AdminDeliveryList>> {
  const after = pageStartOf(cursor)
  const rows = await listAllDeliveries(store, { state, limit: limit + 1, after })
  const { page, next_cursor } = pageOf(rows, limit, (last) => startAt(last, last.webhook_id))
  const data = page.map(({ state, ...shown }) => ({
    ...shown,
    ...presentListed({ state, ...shown }),
  }))
  return { object: 'list', data, next_cursor }
}

/**
 * Returns the record of changes, newest first.
 * @param action any text, as a client may have sent it
 */
export async function allChanges(
  { store }: Pick<OverviewDeps, 'store'>,
  { limit, cursor, accountId, action }: PageQuery & { action: string | undefined },
): Promise<Static<typeof AdminChangeList>> {
  const rows = await listChanges(store, {
    limit: limit + 1,
    after: pageStartOf(cursor),
    accountId,
    action: action as ChangeRow['action'] | undefined,
  })
  const { page, next_cursor } = pageOf(rows, limit, (last) => startAt(last, last.change_id))
  return { object: 'list', data: page.map(({ change_id: _, ...shown }) => shown), next_cursor }
}

/**
 * Returns the usage of each account in the last days, and how its stored media grew within a day.
 */
export async function usageOfAll({
  store,
  clock,
  config: { mediaBytesMaxPerAccount },
}: Pick<OverviewDeps, 'store' | 'clock' | 'config'>): Promise<Static<typeof AdminUsage>> {
  const now = clock.now()
  const day = dayOfTime(isoTime(now - (USE_DAYS - 1) * DAY_MS))
  const [rows, expiring] = await Promise.all([
    useOfAccounts(store, { day, addedFrom: isoTime(now - DAY_MS) }),
    bytesThatExpire(store, isoTime(now + DAY_MS)),
  ])
  const data = rows.map(({ max_media_bytes: own, ...use }) => {
    const { max } = limitOf({ max_media_bytes: own }, 'media_bytes', mediaBytesMaxPerAccount)
    return { ...use, media_bytes_max: Number.isFinite(max) ? max : null }
  })
  return { at: isoTime(now), days: USE_DAYS, data, expiring_bytes: expiring }
}

/**
 * Cancels a request of any account, and records who did.
 * @throws ServiceError `NOT_FOUND`; `REQUEST_FINISHED`
 */
export async function cancelForAccount(
  deps: CancelDeps & ChangeDeps & OverviewDeps,
  requestId: string,
): Promise<Static<typeof AdminRequest>> {
  const row = await findAny(deps.store, requestId)
  const canceled = await cancelIfUnfinished(deps, row, 'An admin canceled the request.', (store) =>
    record({ ...deps, store }, 'request.cancel', row, { request_id: requestId }),
  )
  const now = await findAny(deps.store, requestId)
  if (canceled) return presentRequest(now, deps.feed)
  throw alreadyFinished(now)
}

/**
 * Sends the webhook of a request of any account again, and records who did.
 * @throws ServiceError `NOT_FOUND`; `RESULT_NOT_READY`
 */
export async function redeliverForAccount(deps: RedeliveryDeps & ChangeDeps, requestId: string) {
  const row = await findAny(deps.store, requestId)
  const status = await inTransaction(deps.store, async (store) => {
    await record({ ...deps, store }, 'webhook.redeliver', row, { request_id: requestId })
    return redeliver({ ...deps, store, wakeWebhooks: () => undefined }, row)
  })
  deps.wakeWebhooks()
  return status
}

async function findAny(store: Store, requestId: string): Promise<RequestRow> {
  const row = await findRequest(store, requestId)
  if (row) return row
  throw new ServiceError('NOT_FOUND', { message: 'There is no request with this id.' })
}
