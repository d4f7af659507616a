/** Makes rows like those that a gateway writes, for calls of the store. */

import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { isoTime } from '../../../shared/clock.ts'
import { newId } from '../../../shared/ids.ts'
import { findAccount } from '../../../gateway/store/accounts.ts'
import { listApiKeys } from '../../../gateway/store/api-keys.ts'
import type { Store } from '../../../gateway/store/database.ts'
import { findDelivery } from '../../../gateway/store/deliveries.ts'
import { findFile } from '../../../gateway/store/files.ts'
import { findEndpoint } from '../../../gateway/store/webhook-endpoints.ts'
import { findRequest } from '../../../gateway/store/requests.ts'
import type {
  AccountRow,
  ApiKeyRow,
  FileRow,
  RequestRow,
} from '../../../gateway/store/schema/tables.ts'
import type {
  DeliveryAttemptRow,
  DeliveryRow,
  WebhookEndpointRow,
} from '../../../gateway/store/schema/webhook-tables.ts'
import { startGateway } from './start-gateway.ts'
import type { DatabaseKind } from '../database/test-database.ts'

/** Existing rows, and times before and after all of them. */
export interface Rows {
  store: Store
  done: RequestRow
  open: RequestRow
  file: FileRow
  delivery: DeliveryRow
  endpoint: WebhookEndpointRow
  attempt: DeliveryAttemptRow
  account: AccountRow
  key: ApiKeyRow
  entry: { accountId: string; reference: string; seconds: number; now: string }
  now: string
  past: string
  future: string
}

/** Makes a database of the given kind with some rows in it. */
export async function makeRows(t: TestContext, database: DatabaseKind): Promise<Rows> {
  const gateway = await startGateway(t, { database })
  const { store, clock } = gateway
  const endpointUrl = { url: 'https://other-hooks.test/x' }
  const made = await gateway.call('POST', '/v1/webhook-endpoints', { body: endpointUrl })
  assert.equal(made.statusCode, 201, made.body)
  const webhook = { webhookUrl: 'https://hooks.test/x' }
  const done = await gateway.completed({}, webhook)
  const open = await gateway.submitted({}, webhook)
  await gateway.failed({}, webhook)
  assert.equal((await gateway.submit({ request_id: done, output: 'target' })).statusCode, 202)
  const find = async (id: string) => (await findRequest(store, id))!
  const delivery = (await findDelivery(store, done))!
  const now = isoTime(clock.now())
  const attempt = {
    attempt_id: newId('try'),
    webhook_id: delivery.webhook_id,
    started_at: delivery.created_at,
    duration_ms: 1,
    status_code: 500,
    error: 'The receiver answered 500.',
  }
  const account = (await findAccount(store, delivery.account_id))!
  const [key] = await listApiKeys(store)
  return {
    store,
    done: await find(done),
    open: await find(open),
    file: (await findFile(store, (await find(open)).file_id!))!,
    delivery,
    endpoint: (await findEndpoint(store, made.json().endpoint_id))!,
    attempt,
    account,
    key: key!,
    entry: { accountId: delivery.account_id, reference: 'ref', seconds: 10, now },
    now,
    past: '2020-01-01T00:00:00.000Z',
    future: '2030-01-01T00:00:00.000Z',
  }
}
