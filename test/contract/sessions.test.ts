/** Sessions of the page (contract 5.5: a browser session is not an API credential). */

import assert from 'node:assert/strict'
import test from 'node:test'
import { sweep } from '../../gateway/files/sweeper.ts'
import { createKey, revokeKey, rotateKey } from '../../gateway/accounts/accounts.ts'
import { hashApiKey, SCOPES } from '../../gateway/accounts/auth.ts'
import { ensureFirstApiKey } from '../../gateway/accounts/first-key.ts'
import { isoTime } from '../../shared/clock.ts'
import { assertError } from '../support/gateway/assert-shape.ts'
import {
  callPage,
  exchange,
  listModels,
  newCode,
  openSession,
  type PageSession,
} from '../support/gateway/page-session.ts'
import { createFileBody, type Gateway, startGateway } from '../support/gateway/start-gateway.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

const FILE = createFileBody()

test('5.5 a one-time code opens a session, with which the page calls the API as its key', async (t) => {
  const gateway = await startGateway(t)
  const session = await openSession(gateway)
  const created = await callPage(gateway, 'POST', '/playground/v1/files', session, FILE)
  assert.equal(created.statusCode, 201, created.body)
  const { file_id: fileId } = created.json()
  const shown = await gateway.call('GET', `/v1/files/${fileId}`)
  assert.equal(shown.statusCode, 200, 'the file belongs to the account of the key')
  const again = await callPage(gateway, 'GET', `/playground/v1/files/${fileId}`, session)
  assert.deepEqual(again.json(), shown.json())
  const reader = await openSession(gateway, await gateway.newKey(['models:read']))
  assert.equal((await listModels(gateway, reader)).statusCode, 200)
  const refused = await callPage(gateway, 'GET', '/playground/v1/queue/requests', reader)
  assertError(refused, 'PERMISSION_DENIED')
})

test('5.5 a session is not an API credential, and a key is no session', async (t) => {
  const gateway = await startGateway(t)
  const session = await openSession(gateway)
  for (const url of ['/v1/models', '/v1/account', '/v1/queue/requests']) {
    assertError(await callPage(gateway, 'GET', url, session), 'UNAUTHENTICATED')
  }
  assertError(await callPage(gateway, 'POST', '/v1/files', session, FILE), 'UNAUTHENTICATED')
  assertError(await callPage(gateway, 'POST', '/playground/codes', session), 'UNAUTHENTICATED')
  const { call, key } = gateway
  const headers = { authorization: `Bearer ${key}` }
  assertError(await call('GET', '/playground/v1/models', { headers }), 'UNAUTHENTICATED')
})

test('5.5 the cookie is inaccessible to scripts, other sites and other addresses', async (t) => {
  const https = await startGateway(t, { config: { publicUrl: () => 'https://winnow.test' } })
  const reply = await exchange(https, await newCode(https))
  const attributes = String(reply.headers['set-cookie']).split('; ').slice(1)
  assert.deepEqual(attributes, ['Max-Age=43200', 'HttpOnly', 'SameSite=Strict', 'Secure'])
  assert.equal(reply.headers['cache-control'], 'no-store')
  assert.ok(!reply.body.includes(String(reply.headers['set-cookie']).slice(15, 79)))
})

test('5.5 a call that changes something needs the token that only the page can read', async (t) => {
  const gateway = await startGateway(t)
  const { cookie, token } = await openSession(gateway)
  const other = await openSession(gateway)
  for (const wrong of [undefined, '', token.slice(1), other.token]) {
    const session = { cookie, ...(wrong !== undefined && { token: wrong }) }
    const reply = await callPage(gateway, 'POST', '/playground/v1/files', session, FILE)
    assertError(reply, 'PERMISSION_DENIED')
    assert.match(reply.json().error.message, /x-csrf-token/)
    assertError(
      await callPage(gateway, 'DELETE', '/playground/session', session),
      'PERMISSION_DENIED',
    )
  }
  assert.equal((await listModels(gateway, { cookie })).statusCode, 200)
  const shown = await callPage(gateway, 'GET', '/playground/session', { cookie })
  assert.equal(shown.json().csrf_token, token, 'a page that was loaded again gets the token again')
})

test('5.5 a code opens one session, even when two ask at once, and only for ten minutes', async (t) => {
  const gateway = await startGateway(t)
  const code = await newCode(gateway)
  const statuses = await Promise.all([exchange(gateway, code), exchange(gateway, code)])
  assert.deepEqual(statuses.map(({ statusCode }) => statusCode).toSorted(), [201, 401])
  const late = await newCode(gateway)
  gateway.clock.advance(10 * MINUTE_MS)
  assertError(await exchange(gateway, late), 'UNAUTHENTICATED')
  for (const wrong of ['', 'x', 'x'.repeat(100_000), code]) {
    assertError(await exchange(gateway, wrong), 'UNAUTHENTICATED')
  }
  for (const wrong of [undefined, null, 7, {}]) {
    assertError(await exchange(gateway, wrong), 'INVALID_PARAMETER', 'code')
  }
})

test('5.5 a session ends after its time, on request, and with its key', async (t) => {
  const gateway = await startGateway(t)
  const [first, second] = [await openSession(gateway), await openSession(gateway)]
  const ended = await callPage(gateway, 'DELETE', '/playground/session', first)
  assert.equal(ended.statusCode, 204)
  assert.match(String(ended.headers['set-cookie']), /^winnow_session=; .*Max-Age=0/)
  assertError(await listModels(gateway, first), 'UNAUTHENTICATED')
  assert.equal((await listModels(gateway, second)).statusCode, 200)
  await gateway.store.updateTable('api_keys').set({ revoked_at: 'now' }).execute()
  assertError(await listModels(gateway, second), 'UNAUTHENTICATED')
  await gateway.store.updateTable('api_keys').set({ revoked_at: null }).execute()
  gateway.clock.advance(12 * HOUR_MS)
  assertError(await listModels(gateway, second), 'UNAUTHENTICATED')
  await sweep(gateway.deps)
  assert.deepEqual(await gateway.rows('page_sessions'), [])
})

test('5.5 a rotated key ends its sessions and its unused codes', async (t) => {
  const gateway = await startGateway(t)
  const { key_id: keyId, key: old } = await createKey(gateway.deps, { scopes: [...SCOPES] })
  const [session, code] = [await openSession(gateway, old), await newCode(gateway, old)]
  const { key } = await rotateKey(gateway.deps, keyId)
  await assertEnded(gateway, session, code)
  const renewed = await openSession(gateway, key)
  assert.equal((await listModels(gateway, renewed)).statusCode, 200)
  const unused = await newCode(gateway, key)
  await revokeKey(gateway.deps, keyId)
  await assertEnded(gateway, renewed, unused)
})

test('5.5 a replaced BOOTSTRAP_API_KEY ends its sessions and its unused codes', async (t) => {
  const gateway = await startGateway(t)
  const first = { dataFolder: gateway.folder, now: isoTime(gateway.clock.now()) }
  const start = (bootstrapApiKey: string) =>
    ensureFirstApiKey(gateway.store, { ...first, bootstrapApiKey })
  const replacements = ['another-key-of-the-operator', gateway.key]
  for (const replacement of replacements) {
    await start('the-first-key-of-the-operator')
    const session = await openSession(gateway, 'the-first-key-of-the-operator')
    const code = await newCode(gateway, 'the-first-key-of-the-operator')
    await start('the-first-key-of-the-operator')
    assert.equal((await listModels(gateway, session)).statusCode, 200, 'a restart ends nothing')
    await start(replacement)
    await assertEnded(gateway, session, code)
  }
})

async function assertEnded(gateway: Gateway, session: PageSession, code: string) {
  assertError(await listModels(gateway, session), 'UNAUTHENTICATED')
  const created = await callPage(gateway, 'POST', '/playground/v1/files', session, FILE)
  assertError(created, 'UNAUTHENTICATED')
  assertError(await callPage(gateway, 'GET', '/playground/session', session), 'UNAUTHENTICATED')
  assertError(await exchange(gateway, code), 'UNAUTHENTICATED')
}

test('5.5 one key holds at most 100 codes and 100 sessions, and no secret is stored', async (t) => {
  const gateway = await startGateway(t)
  const codes: string[] = []
  for (let count = 0; count < 103; count++) {
    gateway.clock.advance(1)
    codes.push(await newCode(gateway))
  }
  const rows = await gateway.rows('page_sessions')
  assert.equal(rows.length, 100)
  assert.ok(!JSON.stringify(rows).includes(codes.at(-1)!))
  assert.ok(rows.some(({ secret_hash: hash }) => hash === hashApiKey(codes.at(-1)!)))
  assertError(await exchange(gateway, codes[0]), 'UNAUTHENTICATED')
})

test('5.5 without the playground there are no sessions, and its addresses are unknown', async (t) => {
  const gateway = await startGateway(t, { config: { playground: 'off' } })
  const session = { cookie: `winnow_session=${'0'.repeat(64)}` }
  const headers = { authorization: `Bearer ${gateway.key}` }
  assertError(await gateway.call('POST', '/playground/codes', { headers }), 'NOT_FOUND')
  assertError(await exchange(gateway, 'x'), 'NOT_FOUND')
  assertError(await listModels(gateway, session), 'NOT_FOUND')
})
