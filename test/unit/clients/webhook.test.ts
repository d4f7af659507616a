import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import test from 'node:test'
import { Webhook } from 'standardwebhooks'
import { verifyWebhook, WebhookError } from '../../../clients/typescript/node.ts'
import { signatureHeaders } from '../../../gateway/webhooks/signature.ts'
import { fc } from '../../support/basics/property.ts'

const NOW = Date.parse('2026-01-02T03:04:05Z')
const BODY = JSON.stringify({ type: 'audio.separate.failed', metadata: { ключ: 'é' } })
const SECRETS = [
  `whsec_${randomBytes(32).toString('base64')}`,
  'sixteen letters!',
  'ключ-ключ-ключ-ключ',
]

/** The headers with which the reference implementation sends `body`. */
function headersOf(secret: string, body = BODY, at = NOW): Record<string, string> {
  const webhook = secret.startsWith('whsec_')
    ? new Webhook(secret)
    : new Webhook(new TextEncoder().encode(secret), { format: 'raw' })
  return {
    'webhook-id': 'msg_1',
    'webhook-timestamp': String(Math.floor(at / 1_000)),
    'webhook-signature': webhook.sign('msg_1', new Date(at), body),
  }
}

test('what the reference implementation signs is taken, by text and by bytes', () => {
  for (const secret of SECRETS) {
    const headers = headersOf(secret)
    const event = verifyWebhook(secret, headers, BODY, { now: NOW })
    assert.deepEqual(event, JSON.parse(BODY))
    assert.deepEqual(
      verifyWebhook(secret, new Headers(headers), Buffer.from(BODY), { now: NOW }),
      event,
    )
  }
})

test('property: what the gateway signs is taken, whatever the secret', () => {
  const prefixed = fc.string({ minLength: 10, maxLength: 250 }).map((rest) => `whsec_${rest}`)
  const secrets = fc.oneof(
    prefixed,
    fc.base64String({ minLength: 10 }).map((rest) => `whsec_${rest}`),
    fc.constant('whsec_not base64, but text'),
    fc.string({ unit: 'grapheme', minLength: 16, maxLength: 256 }),
  )
  fc.assert(
    fc.property(secrets, (secret) => {
      const message = { id: 'msg_1', timestamp: NOW / 1_000, body: Buffer.from(BODY) }
      const event = verifyWebhook(secret, signatureHeaders([secret], message), message.body, {
        now: NOW,
      })
      assert.deepEqual(event, JSON.parse(BODY))
    }),
  )
})

test('one of several signatures is enough', () => {
  const [secret = '', other = ''] = SECRETS
  const headers = headersOf(secret)
  const { 'webhook-signature': wrong } = headersOf(other)
  const all = `v1a,AAAA ${wrong} v1, ${headers['webhook-signature']}`
  verifyWebhook(secret, { ...headers, 'webhook-signature': all }, BODY, { now: NOW })
})

test('another body, id, time or secret is refused', () => {
  const [secret = '', other = ''] = SECRETS
  const headers = headersOf(secret)
  const refused = (changed: object, body = BODY, by = secret) =>
    assert.throws(
      () => verifyWebhook(by, { ...headers, ...changed }, body, { now: NOW }),
      WebhookError,
    )
  refused({}, `${BODY} `)
  refused({}, BODY, other)
  refused({ 'webhook-id': 'msg_2' })
  refused({ 'webhook-timestamp': String(NOW / 1_000 + 1) })
  for (const name of Object.keys(headers)) refused({ [name]: undefined })
  const signature = headers['webhook-signature'] ?? ''
  for (const wrong of [
    signature.slice(3),
    signature.replace('v1', 'v2'),
    'v1,',
    `${signature}AAAA`,
  ]) {
    refused({ 'webhook-signature': wrong })
  }
})

test('a webhook is taken within five minutes, and its time must be one', () => {
  const [secret = ''] = SECRETS
  const headers = headersOf(secret)
  const at =
    (seconds: number, toleranceSeconds = 300) =>
    () =>
      verifyWebhook(secret, headers, BODY, { now: NOW + 1_000 * seconds, toleranceSeconds })
  for (const seconds of [-300, 0, 300]) at(seconds)()
  for (const seconds of [-301, 301]) assert.throws(at(seconds), /within 300 s/)
  at(3_000, 3_000)()
  for (const timestamp of ['', 'now', '1e9', ' 1', '-1', '9'.repeat(400)]) {
    const changed = { ...headers, 'webhook-timestamp': timestamp }
    assert.throws(() => verifyWebhook(secret, changed, BODY, { now: NOW }), WebhookError)
  }
})
