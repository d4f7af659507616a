/** Signs webhooks by Standard Webhooks 1.0, with the symmetric scheme `v1`. */

import { createHmac, randomBytes } from 'node:crypto'

const PREFIX = 'whsec_'
const SECRET_BYTES = 32
/** With or without its padding. */
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}(?:==)?|[A-Za-z0-9+/]{3}=?)?$/

export interface SignedMessage {
  /** The same in every attempt; without a dot. */
  id: string
  /** This attempt's, in seconds since the epoch. */
  timestamp: number
  body: Buffer
}

export const newWebhookSecret = (): string => PREFIX + randomBytes(SECRET_BYTES).toString('base64')

/**
 * The bytes of a secret: those in base64 after `whsec_`, otherwise its text in UTF-8. Other text
 * after `whsec_` is text, since any 16 characters are a valid secret.
 */
export function secretBytes(secret: string): Buffer {
  const coded = secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : ''
  return coded && BASE64.test(coded) ? Buffer.from(coded, 'base64') : Buffer.from(secret)
}

/**
 * The three headers that let the receiver check that a message is authentic, complete and recent.
 */
export function signatureHeaders(secret: string, { id, timestamp, body }: SignedMessage) {
  const signature = createHmac('sha256', secretBytes(secret))
    .update(`${id}.${timestamp}.`)
    .update(body)
    .digest('base64')
  return {
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': `v1,${signature}`,
  }
}
