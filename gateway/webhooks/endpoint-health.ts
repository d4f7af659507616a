/** Disables endpoints that no longer work, and ends what was to be sent to them. */

import { hostname } from 'node:os'
import { isoTime, type Clock } from '../../shared/clock.ts'
import { DAY_MS } from '../../shared/durations.ts'
import type { Logger } from '../../shared/telemetry/log.ts'
import { addChange } from '../store/changes.ts'
import { inTransaction, type Store } from '../store/database.ts'
import { changeDelivery } from '../store/deliveries.ts'
import { countDeliveries, endWaiting } from '../store/endpoint-deliveries.ts'
import {
  disableEndpoint,
  noteFailing,
  noteWorking,
  type EndpointAddress,
} from '../store/webhook-endpoints.ts'
import type { DeliveryRow } from '../store/schema/webhook-tables.ts'
import { errorOf, isUnwanted } from './outcome.ts'
import type { PostOutcome } from './public-post.ts'

/** An endpoint is disabled if nothing succeeds for so many days, with so many deliveries. */
export const FAILING = { days: 5, deliveriesMin: 10 } as const

/** Deliveries that end in one statement, because more would delay other writers. */
const STEP = 500

interface HealthDeps {
  store: Store
  clock: Clock
  log: Logger
}

/**
 * Notes how an attempt at an endpoint's address went, and disables the endpoint if it wants no more
 * or fails for long. An address that the endpoint no longer has says nothing about it.
 */
export async function noteHealth(deps: HealthDeps, target: EndpointAddress, outcome: PostOutcome) {
  const { store, clock } = deps
  const { endpointId } = target
  const error = errorOf(outcome)
  if (error === null) return noteWorking(store, target)
  if (isUnwanted(outcome)) return disable(deps, target, error)
  const endpoint = await noteFailing(store, target, isoTime(clock.now()))
  if (!endpoint || endpoint.disabled_at !== null) {
    // unless only its address has changed during the attempt
    return endDeliveries(store, endpointId, GONE)
  }
  const since = endpoint.failing_since!
  if (clock.now() - Date.parse(since) < FAILING.days * DAY_MS) return
  const most = FAILING.deliveriesMin
  if ((await countDeliveries(store, endpointId, { from: since, most })) < most) return
  await disable(deps, target, `No attempt has succeeded since ${since}.`)
}

async function disable({ store, clock, log }: HealthDeps, target: EndpointAddress, reason: string) {
  const { endpointId } = target
  const now = isoTime(clock.now())
  const row = await inTransaction(store, async (store) => {
    const row = await disableEndpoint(store, target, { now, reason })
    if (!row) return undefined
    await addChange(store, {
      created_at: now,
      ...({ tool: 'gateway', origin: hostname(), action: 'endpoint.disable' } as const),
      account_id: row.account_id,
      key_id: null,
      details: { endpoint_id: endpointId, reason },
    })
    return row
  })
  const what = { endpointId, accountId: row?.account_id, reason }
  if (row) log.warn(what, 'disabled a webhook endpoint') // else another attempt was faster
  await endDeliveries(store, endpointId, DISABLED)
}

export const DISABLED = 'The endpoint is disabled.'
const GONE = 'The endpoint was deleted or disabled.'

/**
 * Ends what waits for an endpoint that is deleted or disabled. If the gateway is killed meanwhile,
 * senders end the rest when it becomes due.
 */
export async function endDeliveries(store: Store, endpointId: string, reason: string) {
  while ((await endWaiting(store, endpointId, { reason, limit: STEP })) === STEP);
}

/** Ends a claimed delivery without a receiver. Its claim is not counted as an attempt. */
export async function endDelivery(store: Store, row: DeliveryRow): Promise<void> {
  const ended = { claim_id: null, next_attempt_at: null, last_error: GONE } as const
  await changeDelivery(store, row, { state: 'failed', attempts: row.attempts - 1, ...ended })
}
