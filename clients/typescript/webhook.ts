/** Checks and reads webhooks, which are signed by Standard Webhooks (v1, HMAC-SHA256). */

import { createHmac, timingSafeEqual } from 'node:crypto'
import type { components } from './api.ts'

type Schemas = components['schemas']

export type CompletedEvent = Schemas['SeparationCompletedEvent']
export type FailedEvent = Schemas['SeparationFailedEvent']
export type SoundsCompletedEvent = Schemas['SoundsCompletedEvent']
export type SoundsFailedEvent = Schemas['SoundsFailedEvent']
export type WebhookEvent = CompletedEvent | FailedEvent | SoundsCompletedEvent | SoundsFailedEvent

/** The webhook is not from the service, or too old: respond with 400 and do nothing. */
export class WebhookError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'WebhookError'
  }
}

type HeaderFields = Headers | Readonly<Record<string, string | readonly string[] | undefined>>

export interface VerifyOptions {
  /** How far the sender's clock and ours may differ. */
  toleranceSeconds?: number
  /** Epoch milliseconds. */
  now?: number
}

const TOLERANCE_SECONDS = 300

/**
 * Returns the event of a webhook whose signature and age are valid. The same event may arrive more
 * than once, with the same `webhook-id`.
 * @param secret the `webhookSecret` of the submit, or the `signing_secret` in its response
 * @param headers of the webhook's request, by their lower-case names
 * @param body the bytes as they arrived, not parsed and serialized again
 * @throws WebhookError
 */
export function verifyWebhook(
  secret: string,
  headers: HeaderFields,
  body: string | Uint8Array,
  { toleranceSeconds = TOLERANCE_SECONDS, now = Date.now() }: VerifyOptions = {},
): WebhookEvent {
  const [id, timestamp, signatures] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map(
    (name) => field(headers, name),
  )
  if (!id || !timestamp || !signatures) throw new WebhookError('A webhook header is missing.')
  const seconds = /^\d{1,15}$/.test(timestamp) ? Number(timestamp) : NaN
  if (!(Math.abs(now / 1_000 - seconds) <= toleranceSeconds)) {
    throw new WebhookError(`webhook-timestamp is not within ${toleranceSeconds} s of now.`)
  }
  const expected = createHmac('sha256', keyOf(secret))
    .update(`${id}.${timestamp}.`)
    .update(body)
    .digest('base64')
  const matches = signatures.split(' ').some((signature) => isSame(signature, `v1,${expected}`))
  if (!matches) throw new WebhookError('No signature fits; is this the right secret?')
  return JSON.parse(
    typeof body === 'string' ? body : new TextDecoder().decode(body),
  ) as WebhookEvent
}

function field(headers: HeaderFields, name: string): string | undefined {
  const value = headers instanceof Headers ? headers.get(name) : headers[name]
  return (typeof value === 'object' ? value?.[0] : value) ?? undefined
}

/** Base64, with or without padding. */
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}(?:==)?|[A-Za-z0-9+/]{3}=?)?$/

/** Returns the key: decodes base64 after the prefix `whsec_`, and takes other text as it is. */
function keyOf(secret: string): Buffer {
  const coded = secret.startsWith('whsec_') ? secret.slice('whsec_'.length) : ''
  return coded && BASE64.test(coded) ? Buffer.from(coded, 'base64') : Buffer.from(secret)
}

/** Compares in a time that does not depend on the text, given the right length. */
function isSame(text: string, expected: string): boolean {
  const [actual, right] = [Buffer.from(text), Buffer.from(expected)]
  return actual.length === right.length && timingSafeEqual(actual, right)
}
