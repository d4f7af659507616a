import assert from 'node:assert/strict'
import test from 'node:test'
import {
  checkSignedQuery,
  signPath,
  type Claims,
} from '../../../../gateway/media-store/signed-url.ts'
import { fc } from '../../../support/basics/property.ts'

const KEY = 'a key of the gateway'
const claims: Claims = {
  method: 'PUT',
  path: '/media/inputs/file_1',
  expiresAt: 10_000,
  size: 42,
  audience: 'client',
}

function queryOf(signed: string): Record<string, string> {
  return Object.fromEntries(new URL(signed, 'http://x').searchParams)
}

const check = (query: Record<string, unknown>, now = 5_000, key = KEY) =>
  checkSignedQuery(key, 'PUT', claims.path, query, now)

test('a signed address returns what was signed, until it expires', () => {
  const query = queryOf(signPath(KEY, claims))
  assert.deepEqual(check(query), claims)
  assert.deepEqual(check(query, 10_000), claims)
  assert.equal(check(query, 10_001), 'expired')
})

test('no part of it can be changed', () => {
  const query = queryOf(signPath(KEY, claims))
  assert.equal(check({ ...query, expires: '99999' }), 'forged')
  assert.equal(check({ ...query, size: '43' }), 'forged')
  for (const name of ['size', 'signature', 'for']) {
    const { [name]: _, ...others } = query
    assert.equal(check(others), 'forged', name)
  }
  assert.equal(check(query, 5_000, 'another key'), 'forged')
  const engine = queryOf(signPath(KEY, { ...claims, audience: 'engine' }))
  for (const [name, other] of [
    ['for', query.for!.replace('client', 'engine')],
    ['for', 'engine'],
    ['for', ''],
    ['for', engine.for!.replace('engine', 'nobody')],
  ] as const) {
    assert.equal(check({ ...query, [name]: other }), 'forged')
  }
  const later = queryOf(signPath(KEY, { ...claims, expiresAt: 20_000, audience: 'engine' }))
  assert.equal(check({ ...query, for: later.for }), 'forged', 'it is of another address')
  assert.equal(checkSignedQuery(KEY, 'GET', claims.path, query, 0), 'forged')
  assert.equal(checkSignedQuery(KEY, 'PUT', '/media/inputs/file_2', query, 0), 'forged')
})

test('no query with another signature passes', () => {
  const value = fc.oneof(fc.string(), fc.integer(), fc.constant(undefined), fc.array(fc.string()))
  fc.assert(
    fc.property(
      fc.record({ expires: value, size: value, signature: value, for: value }),
      (query) => {
        assert.equal(check(query), 'forged')
      },
    ),
  )
})
