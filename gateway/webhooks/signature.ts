/** Signs webhooks according to Standard Webhooks 1.0, with the symmetric scheme `v1`. */

import { createHmac, randomBytes } from 'node:crypto'

const PREFIX = 'whsec_'
const SECRET_BYTES = 32
/** Base64, with or without padding. */
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}(?:==)?|[A-Za-z0-9+/]{3}=?)?$/

export interface SignedMessage {
  /** The same in every attempt. Has no dot, because dots separate what is signed. */
  id: string
  /** The time of this attempt, in seconds since the epoch. */
  timestamp: number
  body: Buffer
}

export const newWebhookSecret = (): string => PREFIX + randomBytes(SECRET_BYTES).toString('base64')

/**
 * Returns the bytes of a secret: what follows `whsec_` if that is base64, otherwise the whole text
 * in UTF-8, because any text of 16 characters or more is a valid secret.
 */
export function secretBytes(secret: string): Buffer {
  const coded = secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : ''
  return coded && BASE64.test(coded) ? Buffer.from(coded, 'base64') : Buffer.from(secret)
}

/**
 * Returns the three headers with which a receiver checks that a message is authentic, complete and
 * recent. Each secret signs it; a receiver needs one of them.
 */
export function signatureHeaders(secrets: readonly string[], message: SignedMessage) {
  return {
    'webhook-id': message.id,
    'webhook-timestamp': String(message.timestamp),
    'webhook-signature': secrets.map((secret) => `v1,${signatureOf(secret, message)}`).join(' '),
  }
}

const signatureOf = (secret: string, { id, timestamp, body }: SignedMessage): string =>
  createHmac('sha256', secretBytes(secret))
    .update(`${id}.${timestamp}.`)
    .update(body)
    .digest('base64')
