import assert from 'node:assert/strict'
import test from 'node:test'
import { SCOPES, type Scope } from '../../gateway/accounts/auth.ts'
import { assertError } from '../support/gateway/assert-shape.ts'
import { ADMIN, ADMIN_TOKEN, type Method } from '../support/gateway/admin.ts'
import { startGateway } from '../support/gateway/start-gateway.ts'

/** Every endpoint that needs a key, with the scope that clause 5.2 requires. */
const ENDPOINTS: [Method, string, Scope][] = [
  ['GET', '/v1/models', 'models:read'],
  ['POST', '/v1/files', 'files:write'],
  ['GET', '/v1/files/x', 'files:read'],
  ['POST', '/v1/queue/audio/separate', 'audio:separate'],
  ['GET', '/v1/queue/requests/x/status', 'audio:separate'],
  ['GET', '/v1/queue/requests/x/status/stream', 'audio:separate'],
  ['GET', '/v1/queue/requests/x/result', 'audio:separate'],
  ['PUT', '/v1/queue/requests/x/cancel', 'audio:separate'],
  ['DELETE', '/v1/queue/requests/x', 'audio:separate'],
  ['DELETE', '/v1/files/x', 'files:write'],
  ['GET', '/v1/queue/requests', 'audio:separate'],
  ['GET', '/v1/account/keys', 'keys:manage'],
  ['POST', '/v1/account/keys', 'keys:manage'],
  ['POST', '/v1/account/keys/x/rotate', 'keys:manage'],
  ['DELETE', '/v1/account/keys/x', 'keys:manage'],
]

test('5.1 the API description and the health checks need no key', async (t) => {
  const gateway = await startGateway(t)
  for (const url of ['/v1/openapi.json', '/healthz', '/readyz']) {
    assert.equal((await gateway.call('GET', url, { key: null })).statusCode, 200, url)
  }
})

test('5.2 and 5.4 each endpoint accepts its own scope and no other', async (t) => {
  const gateway = await startGateway(t)
  for (const [method, url, scope] of ENDPOINTS) {
    const others = await gateway.newKey(SCOPES.filter((other) => other !== scope))
    const refused = await gateway.call(method, url, { key: others })
    assertError(refused, 'PERMISSION_DENIED')
    assert.match(refused.json().error.message, /lacks the required scope/)
    const allowed = await gateway.call(method, url, { key: await gateway.newKey([scope]) })
    assert.ok(![401, 403].includes(allowed.statusCode), `${url}: ${allowed.statusCode}`)
  }
})

test('5.5 responses with secrets, signed addresses or account data may not be cached', async (t) => {
  const gateway = await startGateway(t, ADMIN)
  const stored = async (method: Method, url: string, headers: Record<string, string>) => {
    const { statusCode, ...reply } = await gateway.app.inject({ method, url, headers })
    assert.notEqual(statusCode, 404, url)
    return reply.headers['cache-control'] !== 'no-store'
  }
  const key = { authorization: `Bearer ${gateway.key}` }
  const admin = { authorization: `Bearer ${ADMIN_TOKEN}` }
  const calls: [Method, string, Record<string, string>][] = [
    ...ENDPOINTS.filter(([, url]) => !/\/x\b/.test(url)).map(
      ([method, url]) => [method, url, key] satisfies [Method, string, object],
    ),
    ['POST', '/v1/audio/separate', key],
    ['POST', '/playground/codes', key],
    ['GET', '/playground/v1/account', {}],
    ['POST', '/admin/keys', admin],
    ['GET', '/admin/accounts', admin],
  ]
  for (const call of calls) assert.equal(await stored(...call), false, call[1])
})

test('5.3 a missing key answers 401 on every endpoint, whatever the body', async (t) => {
  const gateway = await startGateway(t)
  for (const [method, url] of ENDPOINTS) {
    const reply = await gateway.call(method, url, { key: null, headers: { 'content-type': 'x/y' } })
    assertError(reply, 'UNAUTHENTICATED')
    assert.equal(reply.headers['www-authenticate'], 'Bearer')
  }
})

test('5.3 a malformed or unknown key answers 401', async (t) => {
  const gateway = await startGateway(t)
  const { key } = gateway
  for (const authorization of [
    key,
    `Basic ${key}`,
    'Bearer',
    'Bearer ',
    `Bearer ${key}x`,
    `Bearer ${key} ${key}`,
    'Bearer sep_test_0',
  ]) {
    const reply = await gateway.call('GET', '/v1/models', { key: null, headers: { authorization } })
    assertError(reply, 'UNAUTHENTICATED')
  }
  const lower = { authorization: `bearer ${key}` } // RFC 9110: schemes are case-insensitive
  const reply = await gateway.call('GET', '/v1/models', { key: null, headers: lower })
  assert.equal(reply.statusCode, 200)
})

test('5.3 keys are not stored, only their hashes', async (t) => {
  const gateway = await startGateway(t)
  const rows = await gateway.rows('api_keys')
  assert.ok(rows.length > 0 && !JSON.stringify(rows).includes(gateway.key))
})
