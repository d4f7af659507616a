/** Sessions of the page (contract 5.5: a browser session is not an API credential). */

import assert from 'node:assert/strict'
import test from 'node:test'
import type { InjectOptions } from 'fastify'
import { sweep } from '../../gateway/files/sweeper.ts'
import { createKey, revokeKey, rotateKey } from '../../gateway/accounts/accounts.ts'
import { hashApiKey, SCOPES } from '../../gateway/accounts/auth.ts'
import { ensureFirstApiKey } from '../../gateway/accounts/first-key.ts'
import { isoTime } from '../../shared/clock.ts'
import { assertError } from '../support/gateway/assert-shape.ts'
import { startGateway, type Gateway } from '../support/gateway/start-gateway.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

const bearer = (key: string) => ({ headers: { authorization: `Bearer ${key}` } })

const newCode = async (gateway: Gateway, key = gateway.key): Promise<string> => {
  const reply = await gateway.call('POST', '/playground/codes', bearer(key))
  assert.equal(reply.statusCode, 201)
  return reply.json().code
}

const inject = (gateway: Gateway, options: InjectOptions) => gateway.app.inject(options)

const exchange = (gateway: Gateway, code: unknown) =>
  inject(gateway, { method: 'POST', url: '/playground/sessions', payload: { code } })

interface BrowserSession {
  cookie: string
  token: string
}

const openSession = async (gateway: Gateway, key?: string): Promise<BrowserSession> => {
  const reply = await exchange(gateway, await newCode(gateway, key))
  assert.equal(reply.statusCode, 201)
  const cookie = String(reply.headers['set-cookie']).split(';')[0]!
  return { cookie, token: reply.json().csrf_token }
}

const call = (
  gateway: Gateway,
  method: 'GET' | 'POST' | 'PUT' | 'DELETE',
  url: string,
  { cookie, token }: { cookie: string; token?: string },
  payload?: object,
) => {
  const headers = { cookie, ...(token !== undefined && { 'x-csrf-token': token }) }
  return inject(gateway, { method, url, headers, ...(payload && { payload }) })
}

const models = (gateway: Gateway, session: BrowserSession) =>
  call(gateway, 'GET', '/playground/v1/models', session)

const FILE = {
  file_name: 'a.wav',
  content_type: 'audio/wav',
  file_size: 44,
  purpose: 'audio.separate.input',
}

test('5.5 a one-time code opens a session, with which the page calls the API as its key', async (t) => {
  const gateway = await startGateway(t)
  const session = await openSession(gateway)
  const created = await call(gateway, 'POST', '/playground/v1/files', session, FILE)
  assert.equal(created.statusCode, 201, created.body)
  const { file_id: fileId } = created.json()
  const shown = await gateway.call('GET', `/v1/files/${fileId}`)
  assert.equal(shown.statusCode, 200, 'the file belongs to the account of the key')
  const again = await call(gateway, 'GET', `/playground/v1/files/${fileId}`, session)
  assert.deepEqual(again.json(), shown.json())
})

test('5.5 a session is not an API credential: /v1 and gRPC accept no cookie', async (t) => {
  const gateway = await startGateway(t)
  const session = await openSession(gateway)
  for (const url of ['/v1/models', '/v1/account', '/v1/queue/requests']) {
    assertError(await call(gateway, 'GET', url, session), 'UNAUTHENTICATED')
  }
  assertError(await call(gateway, 'POST', '/v1/files', session, FILE), 'UNAUTHENTICATED')
  assertError(await call(gateway, 'POST', '/playground/codes', session), 'UNAUTHENTICATED')
})

test("5.5 a key is not a session: the page's addresses accept no key", async (t) => {
  const gateway = await startGateway(t)
  const reply = await gateway.call('GET', '/playground/v1/models', bearer(gateway.key))
  assertError(reply, 'UNAUTHENTICATED')
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
    const reply = await call(gateway, 'POST', '/playground/v1/files', session, FILE)
    assertError(reply, 'PERMISSION_DENIED')
    assert.match(reply.json().error.message, /x-csrf-token/)
    assertError(await call(gateway, 'DELETE', '/playground/session', session), 'PERMISSION_DENIED')
  }
  assert.equal((await call(gateway, 'GET', '/playground/v1/models', { cookie })).statusCode, 200)
  const shown = await call(gateway, 'GET', '/playground/session', { cookie })
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
  const ended = await call(gateway, 'DELETE', '/playground/session', first)
  assert.equal(ended.statusCode, 204)
  assert.match(String(ended.headers['set-cookie']), /^winnow_session=; .*Max-Age=0/)
  assertError(await models(gateway, first), 'UNAUTHENTICATED')
  assert.equal((await models(gateway, second)).statusCode, 200)
  await gateway.store.updateTable('api_keys').set({ revoked_at: 'now' }).execute()
  assertError(await models(gateway, second), 'UNAUTHENTICATED')
  await gateway.store.updateTable('api_keys').set({ revoked_at: null }).execute()
  gateway.clock.advance(12 * HOUR_MS)
  assertError(await models(gateway, second), 'UNAUTHENTICATED')
  await sweep(gateway.deps)
  assert.deepEqual(await gateway.store.selectFrom('page_sessions').selectAll().execute(), [])
})

test('5.5 a rotated key ends its sessions and its unused codes', async (t) => {
  const gateway = await startGateway(t)
  const { key_id: keyId, key: old } = await createKey(gateway.deps, { scopes: [...SCOPES] })
  const [session, code] = [await openSession(gateway, old), await newCode(gateway, old)]
  const { key } = await rotateKey(gateway.deps, keyId)
  await assertEnded(gateway, session, code)
  const renewed = await openSession(gateway, key)
  assert.equal((await models(gateway, renewed)).statusCode, 200)
  const unused = await newCode(gateway, key)
  await revokeKey(gateway.deps, keyId)
  await assertEnded(gateway, renewed, unused)
})

test('5.5 a replaced BOOTSTRAP_API_KEY ends its sessions and its unused codes', async (t) => {
  const gateway = await startGateway(t)
  const start = (bootstrapApiKey: string) =>
    ensureFirstApiKey(gateway.store, {
      dataFolder: gateway.folder,
      bootstrapApiKey,
      now: isoTime(gateway.clock.now()),
    })
  const replacements = ['another-key-of-the-operator', gateway.key]
  for (const replacement of replacements) {
    await start('the-first-key-of-the-operator')
    const session = await openSession(gateway, 'the-first-key-of-the-operator')
    const code = await newCode(gateway, 'the-first-key-of-the-operator')
    await start('the-first-key-of-the-operator')
    assert.equal((await models(gateway, session)).statusCode, 200, 'a restart ends nothing')
    await start(replacement)
    await assertEnded(gateway, session, code)
  }
})

async function assertEnded(gateway: Gateway, session: BrowserSession, code: string) {
  assertError(await models(gateway, session), 'UNAUTHENTICATED')
  const created = await call(gateway, 'POST', '/playground/v1/files', session, FILE)
  assertError(created, 'UNAUTHENTICATED')
  assertError(await call(gateway, 'GET', '/playground/session', session), 'UNAUTHENTICATED')
  assertError(await exchange(gateway, code), 'UNAUTHENTICATED')
}

test('5.5 a session has the scopes of its key', async (t) => {
  const gateway = await startGateway(t)
  const session = await openSession(gateway, await gateway.newKey(['models:read']))
  assert.equal((await call(gateway, 'GET', '/playground/v1/models', session)).statusCode, 200)
  const refused = await call(gateway, 'GET', '/playground/v1/queue/requests', session)
  assertError(refused, 'PERMISSION_DENIED')
})

test('5.5 one key holds at most 100 codes and 100 sessions, and no secret is stored', async (t) => {
  const gateway = await startGateway(t)
  const codes: string[] = []
  for (let count = 0; count < 103; count++) {
    gateway.clock.advance(1)
    codes.push(await newCode(gateway))
  }
  const rows = await gateway.store.selectFrom('page_sessions').selectAll().execute()
  assert.equal(rows.length, 100)
  assert.ok(!JSON.stringify(rows).includes(codes.at(-1)!))
  assert.ok(rows.some(({ secret_hash: hash }) => hash === hashApiKey(codes.at(-1)!)))
  assertError(await exchange(gateway, codes[0]), 'UNAUTHENTICATED')
})

test('5.5 without the playground there are no sessions, and its addresses are unknown', async (t) => {
  const gateway = await startGateway(t, { config: { playground: 'off' } })
  const session = { cookie: `winnow_session=${'0'.repeat(64)}` }
  assertError(await gateway.call('POST', '/playground/codes', bearer(gateway.key)), 'NOT_FOUND')
  assertError(await exchange(gateway, 'x'), 'NOT_FOUND')
  assertError(await call(gateway, 'GET', '/playground/v1/models', session), 'NOT_FOUND')
})
