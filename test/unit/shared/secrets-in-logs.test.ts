import assert from 'node:assert/strict'
import { test } from 'node:test'
import { linesWithSecrets } from '../../support/processes/secrets-in-logs.ts'

const ENVIRONMENT = {
  ADMIN_TOKEN: 'an-admin-token',
  NATS_URL: 'nats://a-broker-token@127.0.0.1:4222',
  DATABASE_URL: 'postgres://winnow:a-password@127.0.0.1/winnow',
  SIGNING_KEY_FILE: '/etc/winnow/signing-key',
}

test('the search of logs finds every kind of secret, and repeats none', () => {
  const leaks = [
    'started with an-admin-token',
    'cannot connect to nats://a-broker-token@127.0.0.1:4222',
    'postgres: a-password is wrong',
    '{"secret":"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"}',
    'GET /media/outputs/1?expires=1&signature=0123456789abcdef0123',
    'Authorization: Bearer sep_k1_0123456789abcdef0123',
  ]
  const fine = ['listening at 127.0.0.1:4222', 'key sep_k1 is revoked', '/etc/winnow/signing-key']
  const found = linesWithSecrets([...leaks, ...fine].join('\n'), '/nowhere', ENVIRONMENT)
  assert.equal(found.length, leaks.length, found.join('\n'))
  assert.doesNotMatch(found.join('\n'), /an-admin-token|a-broker-token|a-password/)
})
