/** The tables of webhooks, with their columns as in `tables.ts`. */

export const DELIVERY_STATES = ['pending', 'sending', 'delivered', 'failed'] as const

export type DeliveryState = (typeof DELIVERY_STATES)[number]

/** An address that receives events of an account, whichever requests they are about. */
export interface WebhookEndpointRow {
  endpoint_id: string
  account_id: string
  url: string
  /** JSON: the types of events that it receives. */
  events: string
  /** For people; may be empty. */
  description: string
  /** The key that signs its events, encrypted for this endpoint. */
  secret: string
  /** The key before the last rotation, which signs, too, until then. */
  old_secret: string | null
  old_secret_ends_at: string | null
  /** From then on nothing is sent. */
  disabled_at: string | null
  /** Why a gateway has disabled it; null if the account did. */
  disabled_reason: string | null
  /** When the first of its attempts failed since the last that succeeded. */
  failing_since: string | null
  created_at: string
}

/** An event about a finished request, for one receiver. */
export interface DeliveryRow {
  /** The same in every attempt, so that the receiver can drop repeats. */
  webhook_id: string
  request_id: string
  /** Null if its receiver is the request's `webhookUrl`. The endpoint may be deleted. */
  endpoint_id: string | null
  /** The account of the request; accounts take turns. */
  account_id: string
  host: string
  /** JSON, byte for byte as every attempt sends it. */
  body: string
  state: DeliveryState
  /** Attempts begun. */
  attempts: number
  /** When the first of them began; null before. */
  first_attempt_at: string | null
  /**
   * When a sender may take it: for its next attempt or, while it is being sent, in case that
   * attempt is lost.
   */
  next_attempt_at: string | null
  /** The id of the claim on the attempt in progress; null if there is none. */
  claim_id: string | null
  delivered_at: string | null
  last_error: string | null
  created_at: string
  /** The trace span that ended the request, as W3C's `traceparent`. */
  trace_parent: string | null
}

export interface DeliveryAttemptRow {
  attempt_id: string
  webhook_id: string
  started_at: string
  duration_ms: number
  /** Status of the answer; null if there was none. */
  status_code: number | null
  /** Why it did not deliver; null if it did. */
  error: string | null
}
