/** The deliveries to one webhook endpoint: tests, the list, and replays. */

import { isoTime, type Clock } from '../../shared/clock.ts'
import { ServiceError } from '../../shared/errors.ts'
import { record } from '../accounts/accounts.ts'
import { assertMayChange, authored, type OwnKeyDeps } from '../accounts/own-keys.ts'
import {
  checkReplay,
  REPLAY_MAX,
  type EndpointDelivery,
  type Replay,
} from '../api/endpoint-schemas.ts'
import { timeOf } from '../api/list-filters.ts'
import { pageOf, startAt } from '../api/pagination.ts'
import { eventTypeOf, type WebhookTestResult } from '../api/webhook-schemas.ts'
import { decrypt, type Keys } from '../secrets.ts'
import { inTransaction, type Store } from '../store/database.ts'
import { listDeliveries, restartDeliveries } from '../store/endpoint-deliveries.ts'
import type { Page } from '../store/pages.ts'
import { secretsOf } from '../store/webhook-endpoints.ts'
import type { WebhookEndpointRow } from '../store/schema/webhook-tables.ts'
import { presentListed } from '../webhooks/delivery-status.ts'
import type { WebhookTester } from '../webhooks/tester.ts'

/** Deliveries restarted in one transaction, because more would delay other writers. */
const STEP = 500

export interface TestDeps {
  clock: Clock
  webhookTester: Pick<WebhookTester, 'send'>
  config: { encryptionKeys: Keys }
}

/**
 * Posts a test event to an endpoint, even a disabled one, and waits for the answer.
 * @throws ServiceError `RATE_LIMITED`
 */
export function testEndpoint(
  { clock, webhookTester, config }: TestDeps,
  row: WebhookEndpointRow,
  signal: AbortSignal,
): Promise<WebhookTestResult> {
  const secrets = secretsOf(row, isoTime(clock.now())).map((secret) =>
    decrypt(config.encryptionKeys, row.endpoint_id, secret),
  )
  return webhookTester.send(row.account_id, { url: row.url, param: 'url', secrets }, signal)
}

export async function deliveriesOf(store: Store, endpointId: string, { limit, after }: Page) {
  const rows = await listDeliveries(store, endpointId, { limit: limit + 1, after })
  const { page, next_cursor } = pageOf(rows, limit, (last) => startAt(last, last.webhook_id))
  return { object: 'list', data: page.map(presentDelivery), next_cursor }
}

type ListedDelivery = Awaited<ReturnType<typeof listDeliveries>>[number]

const presentDelivery = (row: ListedDelivery): EndpointDelivery => ({
  webhook_id: row.webhook_id,
  request_id: row.request_id,
  type: eventTypeOf(row),
  created_at: row.created_at,
  ...presentListed(row),
})

export interface ReplayDeps extends OwnKeyDeps {
  wakeWebhooks: () => void
}

/**
 * Sends the deliveries of a range of time again, with the same ids and bodies, oldest first. The
 * range is in `body`, a ReplayRequest. They become due in steps, so if the gateway is killed, only
 * a part of them is due.
 * @throws ServiceError what is wrong with `body`; `INVALID_PARAMETER` for a disabled endpoint;
 *   `RATE_LIMITED`
 */
export async function replay(
  deps: ReplayDeps,
  row: WebhookEndpointRow,
  body: unknown,
): Promise<Replay> {
  const { store, clock, wakeWebhooks } = deps
  const { endpoint_id: endpointId, disabled_at: disabledAt } = row
  const now = isoTime(clock.now())
  const { since, until, only_failed: isFailedOnly = false } = checkReplay(body)
  const from = timeOf('since', since) ?? now
  const range = { endpointId, until: timeOf('until', until) ?? after(now), isFailedOnly, now }
  if (range.until <= from) {
    throw new ServiceError('INVALID_PARAMETER', {
      message: 'until must be later than since, and since in the past.',
      param: until === undefined ? 'since' : 'until',
    })
  }
  if (disabledAt !== null) {
    const message = 'The endpoint is disabled: enable it before a replay.'
    throw new ServiceError('INVALID_PARAMETER', { message, param: 'endpoint_id' })
  }
  await countReplay(deps, row, { since: from, until: range.until })
  let [replayed, last] = [0, { created_at: from, webhook_id: '' }]
  while (replayed < REPLAY_MAX) {
    const page = await restartDeliveries(store, { ...range, after: last, limit: STEP })
    wakeWebhooks()
    replayed += page.length
    last = page.at(-1) ?? last
    if (page.length < STEP) return { replayed, next_since: null }
  }
  return { replayed, next_since: last.created_at }
}

/**
 * Counts a replay, which posts much for one call.
 * @throws ServiceError `RATE_LIMITED`
 */
const countReplay = (
  deps: ReplayDeps,
  { endpoint_id, account_id }: WebhookEndpointRow,
  range: { since: string; until: string },
): Promise<void> =>
  inTransaction(deps.store, async (store) => {
    await assertMayChange(deps, store, 'replays')
    const details = { endpoint_id, ...range }
    await record({ ...authored(deps), store }, 'endpoint.replay', { account_id }, details)
  })

/** Returns the time a millisecond later, because `until` is exclusive. */
const after = (time: string): string => isoTime(Date.parse(time) + 1)
