/** An account manages its own keys: docs/decisions/accounts.md. */

import assert from 'node:assert/strict'
import test from 'node:test'
import { createKey, limitKey } from '../../gateway/accounts/accounts.ts'
import { keyIdOf, type Scope } from '../../gateway/accounts/auth.ts'
import { OWN_KEYS } from '../../gateway/accounts/own-keys.ts'
import { ApiKey, NewApiKey, OwnKeyList } from '../../gateway/accounts/schemas.ts'
import { assertError, assertShape } from '../support/gateway/assert-shape.ts'
import type { Method } from '../support/gateway/admin.ts'
import { callPage, openSession } from '../support/gateway/page-session.ts'
import { type Gateway, startGateway } from '../support/gateway/start-gateway.ts'

const DAY_MS = 86_400_000
const KEYS = '/v1/account/keys'

const make = (gateway: Gateway, body: object, key = gateway.key) =>
  gateway.call('POST', KEYS, { body, key })

const models = async (gateway: Gateway, key: string) =>
  (await gateway.call('GET', '/v1/models', { key })).statusCode

test('extension: an account makes, lists, rotates and revokes its keys, and the changes are recorded', async (t) => {
  const gateway = await startGateway(t)
  const body = { scopes: ['models:read'], name: 'CI', expires: '30d' }
  gateway.clock.advance(1) // the list is in the order of creation
  const created = await make(gateway, body)
  assert.equal(created.statusCode, 201, created.body)
  assertShape(NewApiKey, created.json())
  const { key: old, ...properties } = created.json()
  assert.equal(await models(gateway, old), 200)
  const rotated = (await gateway.call('POST', `${KEYS}/${properties.key_id}/rotate`)).json()
  assert.deepEqual([await models(gateway, old), await models(gateway, rotated.key)], [401, 200])

  const own = keyIdOf(gateway.key)
  const list = async () => (await gateway.call('GET', KEYS)).json()
  assertShape(OwnKeyList, await list())
  assert.equal((await list()).current_key_id, own)
  const ids = async () => (await list()).data.map((key: ApiKey) => key.key_id)
  assert.deepEqual(await ids(), [own, properties.key_id])
  const revoked = await gateway.call('DELETE', `${KEYS}/${properties.key_id}`)
  assertShape(ApiKey, revoked.json())
  assert.equal(await models(gateway, rotated.key), 401, 'at once')
  assert.deepEqual(await ids(), [own, properties.key_id])
  gateway.clock.advance(OWN_KEYS.daysShown * DAY_MS + 1)
  assert.deepEqual(await ids(), [own])

  const rows = await gateway.rows('changes')
  const ofKey = rows.filter(({ key_id: id }) => id === properties.key_id)
  assert.deepEqual(
    ofKey.map(({ tool, origin, action, details }) => [
      tool,
      origin,
      action,
      JSON.parse(details).by,
    ]),
    ['create', 'rotate', 'revoke'].map((act) => ['account_api', '127.0.0.1', `key.${act}`, own]),
  )
  const text = JSON.stringify(rows)
  for (const key of [old, rotated.key]) assert.ok(!text.includes(key.split('_')[2]))
})

test('extension: no key can grant or revoke more than it has itself, or for longer', async (t) => {
  const gateway = await startGateway(t)
  const account_id = gateway.accountId
  const scopes: Scope[] = ['models:read', 'keys:manage']
  const limits = { scopes, account_id, expires: '2d' }
  const limited = await createKey(gateway.deps, limits)
  const refused = await make(gateway, { scopes: [...scopes, 'files:read'] }, limited.key)
  assertError(refused, 'PERMISSION_DENIED')
  assert.match(refused.json().error.message, /lacks files:read/)
  for (const expires of [undefined, '3d']) {
    const created = (
      await make(gateway, { scopes, ...(expires && { expires }) }, limited.key)
    ).json()
    assert.equal(created.expires_at, limited.expires_at)
  }
  const briefly = await make(gateway, { scopes, expires: '1d' }, limited.key)
  assert.equal(Date.parse(briefly.json().expires_at), gateway.clock.now() + DAY_MS)

  await limitKey(gateway.deps, limited.key_id, { calls_per_minute: 50 })
  const slow = await make(gateway, { scopes }, limited.key)
  assert.equal(slow.json().calls_per_minute, 50)

  assert.equal((await make(gateway, { scopes, priority: 'batch' })).json().priority, 'batch')
  await limitKey(gateway.deps, limited.key_id, { priority: 'batch' })
  assert.equal((await make(gateway, { scopes }, limited.key)).json().priority, 'batch')
  const higher = await make(gateway, { scopes, priority: 'interactive' }, limited.key)
  assertError(higher, 'PERMISSION_DENIED')

  const lasting = await createKey(gateway.deps, { scopes, account_id })
  for (const id of [keyIdOf(gateway.key), lasting.key_id]) {
    const rotated = await gateway.call('POST', `${KEYS}/${id}/rotate`, { key: limited.key })
    assertError(rotated, 'PERMISSION_DENIED')
  }
  assert.equal(await models(gateway, gateway.key), 200)
  const revoked = await gateway.call('DELETE', `${KEYS}/${lasting.key_id}`, { key: limited.key })
  assert.equal(revoked.statusCode, 200, 'revoking gives no rights')
  assertError(
    await make(gateway, { scopes, account_id: 'default' }, limited.key),
    'INVALID_REQUEST',
    'account_id',
  )
})

test("extension: another account's keys are invisible", async (t) => {
  const gateway = await startGateway(t)
  const foreign = await gateway.newKey()
  const id = keyIdOf(foreign)
  assertError(await gateway.call('POST', `${KEYS}/${id}/rotate`), 'NOT_FOUND')
  assertError(await gateway.call('DELETE', `${KEYS}/${id}`), 'NOT_FOUND')
  assert.equal(await models(gateway, foreign), 200)
  const { data } = (await gateway.call('GET', KEYS)).json()
  assert.ok(data.every((key: ApiKey) => key.key_id !== id))
})

test('extension: an account has a bounded number of valid keys, and of changes in a day', async (t) => {
  const gateway = await startGateway(t)
  const scopes = ['models:read']
  const account_id = gateway.accountId
  const last = (await make(gateway, { scopes })).json()
  for (let count = 2; count < OWN_KEYS.validMax; count += 1) {
    await createKey(gateway.deps, { scopes, account_id })
  }
  assertError(await make(gateway, { scopes }), 'RATE_LIMITED')
  await gateway.call('DELETE', `${KEYS}/${last.key_id}`)
  const again = await make(gateway, { scopes })
  assert.equal(again.statusCode, 201, again.body)

  const rotate = () => gateway.call('POST', `${KEYS}/${again.json().key_id}/rotate`)
  for (let count = 3; count < OWN_KEYS.changesPerDayMax; count += 1) await rotate()
  assertError(await rotate(), 'RATE_LIMITED')
  const revoked = await gateway.call('DELETE', `${KEYS}/${again.json().key_id}`)
  assert.equal(revoked.statusCode, 200, 'a leaked key can be revoked at any time')
  gateway.clock.advance(DAY_MS + 1)
  assert.equal((await make(gateway, { scopes })).statusCode, 201)
})

test('extension: the page manages the keys of its session, and ends with its own', async (t) => {
  const gateway = await startGateway(t)
  const session = await openSession(gateway)
  const call = (method: Method, path = '', payload?: object) =>
    callPage(gateway, method, `/playground${KEYS}${path}`, session, payload)
  const created = await call('POST', '', { scopes: ['models:read'] })
  assert.equal(created.statusCode, 201, created.body)
  assert.equal(await models(gateway, created.json().key), 200)
  const own = (await call('GET')).json().current_key_id
  assert.equal(own, keyIdOf(gateway.key))
  assert.equal((await call('DELETE', `/${own}`)).statusCode, 200)
  assertError(await call('GET'), 'UNAUTHENTICATED')
  assert.equal(await models(gateway, gateway.key), 401)
})
