import assert from 'node:assert/strict'
import test from 'node:test'
import { Webhook } from 'standardwebhooks'
import {
  newWebhookSecret,
  secretBytes,
  signatureHeaders,
} from '../../../../gateway/webhooks/signature.ts'
import { fc } from '../../../support/basics/property.ts'

const now = () => Math.floor(Date.now() / 1_000)

test('the headers of the example in Standard Webhooks', () => {
  const headers = signatureHeaders(['whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD'], {
    id: 'msg_27UH4WbU6Z5A5EzD8u03UvzRbpk',
    timestamp: 1_649_367_553,
    body: Buffer.from('{"email":"test@example.com","username":"test_user"}'),
  })
  assert.deepEqual(headers, {
    'webhook-id': 'msg_27UH4WbU6Z5A5EzD8u03UvzRbpk',
    'webhook-timestamp': '1649367553',
    'webhook-signature': 'v1,tZ1I4/hDygAJgO5TYxiSd6Sd0kDW6hPenDe+bTa3Kkw=',
  })
})

test('property: standardwebhooks verifies what we sign, and nothing that was changed', () => {
  const plain = fc
    .string({ unit: 'grapheme', minLength: 16, maxLength: 256 })
    .filter((secret) => !secret.startsWith('whsec_'))
  const coded = fc
    .uint8Array({ minLength: 1, maxLength: 64 })
    .map((bytes) => `whsec_${Buffer.from(bytes).toString('base64')}`)
  const secrets = fc.oneof(plain, coded, fc.constant(null).map(newWebhookSecret))
  fc.assert(
    fc.property(secrets, fc.string({ unit: 'grapheme' }), (secret, text) => {
      const body = Buffer.from(JSON.stringify({ text }))
      const headers = signatureHeaders([secret], { id: 'msg_1', timestamp: now(), body })
      const verifier = secret.startsWith('whsec_')
        ? new Webhook(secret)
        : new Webhook(Buffer.from(secret), { format: 'raw' })
      assert.deepEqual(verifier.verify(body, headers), { text })
      assert.throws(() => verifier.verify(`${body.toString()} `, headers))
      assert.throws(() => verifier.verify(body, { ...headers, 'webhook-id': 'msg_2' }))
    }),
  )
})

test('after whsec_ base64 means bytes, and anything else is text', () => {
  assert.deepEqual(
    secretBytes('whsec_AAECAwQFBgcICQ=='),
    Buffer.from([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]),
  )
  assert.deepEqual(secretBytes('whsec_AAECAwQFBgcICQ'), Buffer.from([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]))
  for (const text of [
    'whsec_',
    'whsec_not base64!',
    'whsec_under_scored',
    'whsec_AAAAA',
    'plain',
  ]) {
    assert.deepEqual(secretBytes(text), Buffer.from(text), text)
  }
})
