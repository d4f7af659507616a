/**
 * Sends the webhooks of finished requests, with accounts taking turns, until each is accepted or
 * has used up its attempts. All state is in the database, so another gateway, or this one after a
 * restart, continues where one stopped.
 */

import { setMaxListeners } from 'node:events'
import { isoTime, type Clock } from '../../shared/clock.ts'
import { FairShare, FairShares } from '../../shared/fair-share.ts'
import { newId } from '../../shared/ids.ts'
import type { Logger } from '../../shared/telemetry/log.ts'
import { inTraceSpan } from '../../shared/telemetry/tracing.ts'
import type { PostOutcome, PublicPost } from './public-post.ts'
import { Loop } from '../loop.ts'
import { decrypt, type Keys } from '../secrets.ts'
import type { Store } from '../store/database.ts'
import {
  changeDelivery,
  claimDue,
  findClaimed,
  listDueAccounts,
  type DeliveryChange,
  type DueDelivery,
  type Receiver,
} from '../store/deliveries.ts'
import { insertAttempt } from '../store/delivery-attempts.ts'
import { findEndpoint } from '../store/webhook-endpoints.ts'
import type {
  DeliveryAttemptRow,
  DeliveryRow,
  DeliveryState,
} from '../store/schema/webhook-tables.ts'
import { endDelivery, noteHealth } from './endpoint-health.ts'
import { errorOf, isUnwanted } from './outcome.ts'
import { retryDelayMs } from './schedule.ts'
import { signatureHeaders } from './signature.ts'

interface SenderOptions {
  store: Store
  clock: Clock
  log: Logger
  post: PublicPost['post']
  encryptionKeys: Keys
  /** Concurrent attempts, for all accounts together. */
  attemptsMax: number
  /** Concurrent attempts to one host; `post` itself limits those to one address. */
  hostAttemptsMax: number
  /** Called after each attempt that was sent, with the state of its delivery. */
  onAttempt?: (state: DeliveryState) => void
  /** From 0 up to 1; spreads the attempts. */
  random?: () => number
}

/** How often the table is polled for webhooks that have become due. */
const EVERY_MS = 1_000
/**
 * How long a claim lasts, which is much longer than an attempt. When the claim of a gateway that
 * died lapses, another takes over.
 */
const CLAIM_MS = 30_000
/** How long attempts in progress may go on when the gateway stops; then they are aborted. */
const STOP_MS_MAX = 3_000
/** The average delay after an address was busy; about as long as a post may take. */
const BUSY_MS = 10_000

export class WebhookSender {
  readonly #options: SenderOptions
  readonly #loop: Loop
  readonly #attempts = new Set<Promise<void>>()
  readonly #share: FairShare
  readonly #hostShares: FairShares
  readonly #aborting = new AbortController()

  constructor(options: SenderOptions) {
    this.#options = options
    this.#share = new FairShare(options.attemptsMax)
    this.#hostShares = new FairShares(options.hostAttemptsMax)
    setMaxListeners(0, this.#aborting.signal) // each attempt adds a listener
    this.#loop = new Loop({
      name: 'webhook-sender',
      everyMs: EVERY_MS,
      log: options.log,
      turn: () => this.startDue(),
    })
  }

  start(): void {
    this.#loop.start()
  }

  wake(): void {
    this.#loop.wake()
  }

  /** Starts no more attempts. Resolves when those in progress have ended or were aborted. */
  async stop(): Promise<void> {
    await this.#loop.stop()
    const timer = setTimeout(() => this.#aborting.abort(), STOP_MS_MAX)
    await this.idle()
    clearTimeout(timer)
  }

  /** Starts to send the webhooks that are due, with accounts taking turns, while slots are free. */
  async startDue(): Promise<void> {
    const { store, clock } = this.#options
    const now = isoTime(clock.now())
    const accounts = new Set(await listDueAccounts(store, now))
    for (;;) {
      const accountId = this.#share.next(accounts)
      if (accountId === undefined) return
      const exceptHosts = this.#hostShares.saturatedPlaces(accountId)
      const claimId = newId('claim')
      const until = isoTime(clock.now() + CLAIM_MS)
      const delivery = await claimDue(store, { now, accountId, exceptHosts, claimId, until })
      if (!delivery) accounts.delete(accountId)
      else if (delivery.receiver === null) await endDelivery(store, delivery)
      else this.#begin(delivery, delivery.receiver, claimId)
    }
  }

  /** Resolves when no attempt is in progress. */
  async idle(): Promise<void> {
    while (this.#attempts.size > 0) await Promise.all(this.#attempts)
  }

  #begin(delivery: DueDelivery, receiver: Receiver, claimId: string): void {
    const { host, account_id: accountId, request_id: requestId } = delivery
    this.#share.take(accountId)
    this.#hostShares.take(host, accountId)
    const attempt = this.#send(delivery, receiver, claimId)
      .catch((error: unknown) => {
        // The claim will lapse, and then the webhook is attempted again.
        this.#options.log.error(
          { err: error, requestId },
          'the end of a webhook attempt could not be stored',
        )
      })
      .finally(() => {
        this.#attempts.delete(attempt)
        this.#share.release(accountId)
        this.#hostShares.release(host, accountId)
        this.#loop.wake() // a slot is free again
      })
    this.#attempts.add(attempt)
  }

  async #send(delivery: DueDelivery, receiver: Receiver, claimId: string): Promise<void> {
    const { clock, log } = this.#options
    const [wallMs, startedAt] = [clock.now(), clock.elapsed()]
    const outcome = await this.#postTraced(delivery, receiver)
    const { request_id: requestId, webhook_id: webhookId, host, endpoint_id } = delivery
    const times = { wallMs, startedAt }
    const update = await this.#settle(delivery, claimId, outcome, { ...times, url: receiver.url })
    const result = 'status' in outcome ? { status: outcome.status } : outcome
    if (update && !('isBusy' in outcome)) this.#options.onAttempt?.(update.state)
    log.info(
      {
        requestId,
        webhookId,
        ...(endpoint_id !== null && { endpointId: endpoint_id }),
        host,
        ...result,
        ms: Math.round(clock.elapsed() - startedAt),
        state: update?.state,
        nextAttemptAt: update?.next_attempt_at,
      },
      'attempted to deliver a webhook',
    )
  }

  /**
   * Stores the outcome of an attempt. Returns undefined if its claim had lapsed, because the
   * webhook may then belong to another sender.
   */
  async #settle(
    { webhook_id: webhookId, endpoint_id: endpointId }: DeliveryRow,
    claimId: string,
    outcome: PostOutcome,
    { url, ...times }: { wallMs: number; startedAt: number; url: string },
  ): Promise<DeliveryUpdate | undefined> {
    const { store, clock, random = Math.random } = this.#options
    const isAborted = 'problem' in outcome && this.#aborting.signal.aborted
    const isBusy = 'problem' in outcome && outcome.isBusy
    const isEnd = isUnwanted(outcome) && !(await this.#hasMoved(endpointId, url))
    for (;;) {
      const row = await findClaimed(store, webhookId, claimId)
      if (!row) return undefined
      const now = clock.now()
      const update = isAborted
        ? undoAttempt(row, now)
        : isBusy
          ? undoAttempt(row, now + BUSY_MS * (0.5 + random()))
          : afterAttempt(row, outcome, { now, random: random(), isEnd })
      const isStored = await changeDelivery(store, row, {
        ...update,
        ...(endpointId !== null && { host: new URL(url).host }), // it may have another address now
      })
      if (!isStored) continue
      // no transaction, as in changeDelivery: a crash in between leaves the attempt unlisted
      if (isAborted || isBusy) return update
      await insertAttempt(store, this.#attempt(webhookId, outcome, times))
      if (endpointId !== null) await noteHealth(this.#options, { endpointId, url }, outcome)
      return update
    }
  }

  /** Returns whether an endpoint has another address than the attempt went to. */
  async #hasMoved(endpointId: string | null, url: string): Promise<boolean> {
    if (endpointId === null) return false
    const endpoint = await findEndpoint(this.#options.store, endpointId)
    return endpoint !== undefined && endpoint.url !== url
  }

  #attempt(
    webhookId: string,
    outcome: PostOutcome,
    { wallMs, startedAt }: { wallMs: number; startedAt: number },
  ): DeliveryAttemptRow {
    return {
      attempt_id: newId('try'),
      webhook_id: webhookId,
      started_at: isoTime(wallMs),
      duration_ms: Math.round(this.#options.clock.elapsed() - startedAt),
      status_code: 'status' in outcome ? outcome.status : null,
      error: errorOf(outcome),
    }
  }

  /**
   * Only the first attempt joins the trace of the request, because a later one may come days later.
   */
  #postTraced(delivery: DueDelivery, receiver: Receiver): Promise<PostOutcome> {
    const { trace_parent: from, attempts, webhook_id: webhookId, request_id: requestId } = delivery
    const attributes = { 'winnow.request_id': requestId, 'winnow.webhook_id': webhookId }
    const options = { kind: 'client', from, isRepeated: attempts > 1, attributes } as const
    return inTraceSpan('webhook', options, async (span) => {
      const outcome = await this.#post(delivery, receiver, span.traceParent)
      if ('status' in outcome) span.setAttributes({ 'http.response.status_code': outcome.status })
      else span.end({ code: outcome.isBusy ? 'BUSY' : 'UNREACHABLE' })
      return outcome
    })
  }

  async #post(
    delivery: DueDelivery,
    { url, secrets: encrypted, owner }: Receiver,
    traceparent: string | null,
  ): Promise<PostOutcome> {
    const { webhook_id: id, request_id: requestId, account_id: accountId } = delivery
    const body = Buffer.from(delivery.body)
    let secrets: string[]
    try {
      secrets = encrypted.map((text) => decrypt(this.#options.encryptionKeys, owner, text))
    } catch (error) {
      this.#options.log.error({ err: error, requestId }, 'a webhook secret could not be opened')
      return { problem: 'The signing secret can no longer be read.' }
    }
    const timestamp = Math.floor(this.#options.clock.now() / 1_000)
    const signature = signatureHeaders(secrets, { id, timestamp, body })
    const headers = {
      'content-type': 'application/json',
      ...signature,
      ...(traceparent !== null && { traceparent }),
    }
    const param = delivery.endpoint_id === null ? 'webhookUrl' : 'url'
    return this.#options.post(url, { headers, body, accountId, param }, this.#aborting.signal)
  }
}

type DeliveryUpdate = Pick<DeliveryRow, 'state' | 'next_attempt_at'> & DeliveryChange

/**
 * Returns the update after an attempt that was not sent or was aborted. The webhook is due again at
 * `at`, in epoch milliseconds, and the attempt is not counted.
 */
const undoAttempt = (row: DeliveryRow, at: number): DeliveryUpdate => ({
  state: 'pending',
  attempts: row.attempts - 1,
  next_attempt_at: isoTime(at),
  claim_id: null,
})

/**
 * Returns the update of a delivery after an attempt.
 * @param now epoch milliseconds
 * @param isEnd whether the receiver takes no more webhooks
 */
function afterAttempt(
  row: Pick<DeliveryRow, 'attempts' | 'first_attempt_at'>,
  outcome: PostOutcome,
  { now, random, isEnd }: { now: number; random: number; isEnd: boolean },
): DeliveryUpdate {
  const unclaimed = { claim_id: null, next_attempt_at: null }
  const error = errorOf(outcome)
  if (error === null) {
    return { ...unclaimed, state: 'delivered', delivered_at: isoTime(now), last_error: null }
  }
  const failure = { ...unclaimed, last_error: error }
  const retryAfter = 'retryAfter' in outcome ? outcome.retryAfter : undefined
  const { attempts, first_attempt_at: first } = row
  const firstAttemptAt = first === null ? now : Date.parse(first)
  const delayMs = retryDelayMs({ attempts, firstAttemptAt, retryAfter, now, random })
  if (isEnd || delayMs === undefined) return { ...failure, state: 'failed' }
  return { ...failure, state: 'pending', next_attempt_at: isoTime(now + delayMs) }
}
