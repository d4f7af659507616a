/** Keys, and the admin API that makes them (contract 5.6 leaves both to us). */

import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { createPass } from '../../gateway/accounts/admin-pass.ts'
import { WRONG_MAX } from '../../gateway/accounts/wrong-tokens.ts'
import { Account, ApiKey, NewApiKey } from '../../gateway/accounts/schemas.ts'
import { ensureFirstApiKey } from '../../gateway/accounts/first-key.ts'
import { ensureInstallation } from '../../gateway/store/installation.ts'
import { assertError, assertShape } from '../support/gateway/assert-shape.ts'
import { ADMIN, ADMIN_TOKEN, admin, adminCalls, knock } from '../support/gateway/admin.ts'
import { type Gateway, startGateway } from '../support/gateway/start-gateway.ts'

/** The page's own calls, which the description leaves out. */
const OF_PAGE = [
  { method: 'POST', path: 'session' },
  { method: 'DELETE', path: 'session' },
] as const

const models = async (gateway: Gateway, key: string): Promise<number> =>
  (await gateway.call('GET', '/v1/models', { key })).statusCode

const fleet = async (gateway: Gateway, token: string): Promise<number> =>
  (await admin(gateway, 'GET', 'fleet', undefined, token)).statusCode

const makeKey = async (gateway: Gateway, more: object = {}) =>
  (await admin(gateway, 'POST', 'keys', { scopes: ['models:read'], ...more })).json()

test('extension: without an admin token there is no admin API, and no word of it', async (t) => {
  const calls = await adminCalls(await startGateway(t, ADMIN))
  const gateway = await startGateway(t)
  for (const call of [...calls, ...OF_PAGE]) assertError(await knock(gateway, call), 'NOT_FOUND')
  assert.deepEqual(await adminCalls(gateway), [])
})

test('extension: the admin API takes the admin token alone', async (t) => {
  const gateway = await startGateway(t, ADMIN)
  const calls = await adminCalls(gateway)
  assert.ok(calls.length > 25)
  const wrong = [`${ADMIN_TOKEN}x`, ADMIN_TOKEN.slice(1), 'x'.repeat(ADMIN_TOKEN.length)]
  for (const call of [...calls, ...OF_PAGE]) {
    for (const token of [null, gateway.key, ...wrong]) {
      assertError(await knock(gateway, call, token), 'UNAUTHENTICATED')
    }
    gateway.clock.advance(60_000)
  }
  assert.equal(await models(gateway, ADMIN_TOKEN), 401)
})

test('extension: a code of the admin token opens a session of it, and each has its time', async (t) => {
  const gateway = await startGateway(t, ADMIN)
  await ensureInstallation(gateway.store, 'inst_test')
  const code = createPass(ADMIN_TOKEN, 'code', gateway.clock.now()).token
  const open = (token: string) => admin(gateway, 'POST', 'session', {}, token)
  const opened = await open(code)
  assert.equal(opened.statusCode, 200, opened.body)
  assert.equal(opened.headers['cache-control'], 'no-store')
  const { token: session, expires_at } = opened.json()
  assert.equal(Date.parse(expires_at), gateway.clock.now() + 12 * 3_600_000)
  assert.deepEqual(
    [await fleet(gateway, session), await fleet(gateway, code), await fleet(gateway, ADMIN_TOKEN)],
    [200, 401, 200],
  )
  assert.equal((await open(ADMIN_TOKEN)).json().token, session)
  const again = await open(code)
  assertError(again, 'UNAUTHENTICATED')
  assert.match(again.json().error.message, /was used/)
  gateway.clock.advance(1)
  const newer = createPass(ADMIN_TOKEN, 'code', gateway.clock.now()).token
  const statuses = (await Promise.all([open(newer), open(newer)])).map((each) => each.statusCode)
  assert.deepEqual(statuses.sort(), [200, 401], 'of two at once, one')
  assertError(await open(session), 'UNAUTHENTICATED') // it can't prolong itself
  const later = (pass: string) => pass.replace(/_(\d+)_/, (_all, ms) => `_${Number(ms) + 1}_`)
  const others = ['code', 'session'] as const
  for (const forged of [
    later(code),
    session.replace('session', 'code'),
    ...others.map((kind) => createPass(`${ADMIN_TOKEN}x`, kind, gateway.clock.now()).token),
  ]) {
    assertError(await open(forged), 'UNAUTHENTICATED')
    assert.equal(await fleet(gateway, forged), 401)
  }
  gateway.clock.advance(10 * 60_000)
  assertError(await open(code), 'UNAUTHENTICATED')
  assert.equal(await fleet(gateway, session), 200)
  gateway.clock.advance(12 * 3_600_000 - 10 * 60_000)
  assert.equal(await fleet(gateway, session), 401)
})

test('extension: a session of the admin token can be ended, and the record says when', async (t) => {
  const gateway = await startGateway(t, ADMIN)
  await ensureInstallation(gateway.store, 'inst_test')
  const sessions: string[] = []
  for (const token of [ADMIN_TOKEN, createPass(ADMIN_TOKEN, 'code', gateway.clock.now()).token]) {
    gateway.clock.advance(1)
    sessions.push((await admin(gateway, 'POST', 'session', {}, token)).json().token)
  }
  const [first = '', second = ''] = sessions
  gateway.clock.advance(1)
  assert.equal((await admin(gateway, 'DELETE', 'session', undefined, first)).statusCode, 204)
  assert.deepEqual(
    [await fleet(gateway, first), await fleet(gateway, second), await fleet(gateway, ADMIN_TOKEN)],
    [401, 200, 200],
  )
  assertError(await admin(gateway, 'DELETE', 'session', undefined, first), 'UNAUTHENTICATED')
  assert.equal((await admin(gateway, 'DELETE', 'session')).statusCode, 204, 'the token has none')
  assert.equal(await fleet(gateway, ADMIN_TOKEN), 200)

  const ofTool = gateway.store.selectFrom('changes').selectAll().where('tool', '=', 'admin_api')
  const changes = await ofTool.orderBy('created_at').execute()
  const idOf = (session: string) => session.split('_').slice(0, 3).join('_')
  assert.deepEqual(
    changes.map(({ action, origin, key_id, account_id, details }) => [
      [action, origin, key_id, account_id],
      JSON.parse(details).by,
    ]),
    [
      [['session.open', '127.0.0.1', idOf(first), null], 'token'],
      [['session.open', '127.0.0.1', idOf(second), null], 'code'],
      [['session.end', '127.0.0.1', idOf(first), null], undefined],
    ],
  )
  for (const session of sessions) assert.ok(!JSON.stringify(changes).includes(session))
})

test('extension: wrong admin tokens are refused unseen once they are too many', async (t) => {
  const gateway = await startGateway(t, {
    config: { adminToken: ADMIN_TOKEN, trustedProxies: ['127.0.0.1/32'] },
  })
  const knockFrom = (token: string | null, address: string) =>
    gateway.app.inject({
      url: '/admin/fleet',
      headers: {
        'x-forwarded-for': address,
        ...(token !== null && { authorization: `Bearer ${token}` }),
      },
    })
  const session = createPass(ADMIN_TOKEN, 'session', gateway.clock.now()).token
  const ended = createPass(ADMIN_TOKEN, 'session', gateway.clock.now() - 86_400_000).token
  const { fromAnAddress, altogether } = WRONG_MAX
  for (let i = 0; i < fromAnAddress; i += 1) {
    assertError(await knockFrom(i % 2 ? 'wrong' : `${session}0`, '192.0.2.1'), 'UNAUTHENTICATED')
  }
  for (const token of ['wrong', ADMIN_TOKEN]) {
    const refused = await knockFrom(token, '192.0.2.1')
    assertError(refused, 'RATE_LIMITED')
    assert.equal(refused.headers['retry-after'], '60')
  }
  assertError(await knockFrom(ended, '192.0.2.1'), 'UNAUTHENTICATED')
  assert.equal((await knockFrom(session, '192.0.2.1')).statusCode, 200, 'who is signed in stays so')
  assert.equal(
    (await knockFrom(ADMIN_TOKEN, '192.0.2.2')).statusCode,
    200,
    'others are not concerned',
  )

  for (let i = fromAnAddress; i < altogether; i += 1) {
    assertError(await knockFrom('wrong', `198.51.100.${i % 250}`), 'UNAUTHENTICATED')
  }
  assertError(await knockFrom(ADMIN_TOKEN, '192.0.2.2'), 'RATE_LIMITED')
  for (const harmless of [null, ended]) {
    assertError(await knockFrom(harmless, '192.0.2.2'), 'UNAUTHENTICATED')
  }
  gateway.clock.advance(60_000)
  assert.equal((await knockFrom(ADMIN_TOKEN, '192.0.2.1')).statusCode, 200)
})

test('extension: an account is made, credited, shown and listed', async (t) => {
  const gateway = await startGateway(t, ADMIN)
  const created = await admin(gateway, 'POST', 'accounts', { name: 'Studio', metered: true })
  assert.equal(created.statusCode, 201)
  assertShape(Account, created.json())
  const { account_id: id } = created.json()
  const credit = (body: object) => admin(gateway, 'POST', `accounts/${id}/credit`, body)
  assert.equal((await credit({ seconds: 60, reference: 'invoice 1' })).json().balance_seconds, 60)
  assert.equal((await credit({ seconds: 60, reference: 'invoice 1' })).json().balance_seconds, 60)
  for (const seconds of [61, -60, 0]) {
    const refused = await credit({ seconds, reference: 'invoice 1' })
    assertError(refused, 'IDEMPOTENCY_CONFLICT', 'reference')
    assert.match(refused.json().error.message, /"invoice 1" has credited 60 s/)
  }
  assert.equal((await credit({ seconds: 60 })).json().balance_seconds, 120)
  assert.equal((await credit({ seconds: -20 })).json().balance_seconds, 100)
  assertError(await credit({ seconds: -101 }), 'INSUFFICIENT_CREDITS')
  const shown = (await admin(gateway, 'GET', `accounts/${id}`)).json()
  assert.deepEqual(shown, {
    account_id: id,
    name: 'Studio',
    status: 'active',
    metered: true,
    balance_seconds: 100,
    reserved_seconds: 0,
    media_bytes: 0,
    media_reserved_bytes: 0,
    own_limits: created.json().own_limits,
  })
  const plain = (await admin(gateway, 'POST', 'accounts', { name: 'Free' })).json()
  assert.equal(plain.metered, false)
  const { data } = (await admin(gateway, 'GET', 'accounts')).json()
  const names = data.map((account: Account) => account.name)
  assert.deepEqual(names.sort(), ['Free', 'Studio', 'Test']) // and that of the gateway's own key
})

test('extension: a wrong account is refused, with what is wrong', async (t) => {
  const gateway = await startGateway(t, ADMIN)
  const post = (path: string, body: object) => admin(gateway, 'POST', path, body)
  assertError(await post('accounts', {}), 'INVALID_REQUEST', 'name')
  assertError(await post('accounts', { name: '' }), 'INVALID_PARAMETER', 'name')
  assertError(await post('accounts', { name: 'x', meterd: true }), 'INVALID_REQUEST', 'meterd')
  const { account_id: id } = (await post('accounts', { name: 'x' })).json()
  for (const seconds of [1.5, '1', null]) {
    assertError(await post(`accounts/${id}/credit`, { seconds }), 'INVALID_REQUEST', 'seconds')
  }
  assertError(
    await post(`accounts/${id}/credit`, { seconds: 1e12 }),
    'INVALID_PARAMETER',
    'seconds',
  )
  assertError(await post('accounts/nobody/credit', { seconds: 1 }), 'NOT_FOUND')
  assertError(await admin(gateway, 'GET', 'accounts/nobody'), 'NOT_FOUND')
})

test('5.2 a key that is made opens what its scopes say, and is shown once', async (t) => {
  const gateway = await startGateway(t, ADMIN)
  const created = await admin(gateway, 'POST', 'keys', { scopes: ['models:read'], name: 'CI' })
  assert.equal(created.statusCode, 201)
  assertShape(NewApiKey, created.json())
  const { key, key_id: id, account_id: account, expires_at } = created.json()
  assert.match(key, RegExp(`^sep_${id}_[0-9a-f]{64}$`))
  assert.deepEqual([account, expires_at], ['default', null])
  assert.equal(await models(gateway, key), 200)
  assertError(await gateway.call('GET', '/v1/files/x', { key }), 'PERMISSION_DENIED')
  assert.equal((await gateway.call('GET', '/v1/account', { key })).json().account_id, 'default')
  const listed = await admin(gateway, 'GET', `keys?account_id=default`)
  assert.equal(listed.json().data.length, 1)
  assertShape(ApiKey, listed.json().data[0])
  assert.ok(!listed.body.includes(key.split('_')[2]), 'the secret is not shown again')
})

test('5.3 a key opens nothing once it has expired, and a rotation does not prolong it', async (t) => {
  const gateway = await startGateway(t, ADMIN)
  const made = await makeKey(gateway, { expires: '30d' })
  assert.equal(Date.parse(made.expires_at), gateway.clock.now() + 30 * 86_400_000)
  gateway.clock.advance(30 * 86_400_000 - 1)
  assert.equal(await models(gateway, made.key), 200)
  gateway.clock.advance(1)
  assert.equal(await models(gateway, made.key), 401)
  const rotated = (await admin(gateway, 'POST', `keys/${made.key_id}/rotate`)).json()
  assert.equal(rotated.expires_at, made.expires_at)
  assert.equal(await models(gateway, rotated.key), 401)
})

test('5.3 a rotated key has a new secret and keeps all else; a revoked one opens nothing again', async (t) => {
  const gateway = await startGateway(t, ADMIN)
  const { key: old, ...kept } = await makeKey(gateway, { name: 'CI', expires: '1h' })
  const change = (verb: 'rotate' | 'revoke', id = kept.key_id) =>
    admin(gateway, 'POST', `keys/${id}/${verb}`)
  const reply = await change('rotate')
  assertShape(NewApiKey, reply.json())
  const { key, ...rest } = reply.json()
  assert.deepEqual(rest, kept)
  assert.deepEqual([await models(gateway, old), await models(gateway, key)], [401, 200])

  const revoked = (await change('revoke')).json()
  assertShape(ApiKey, revoked)
  assert.equal(Date.parse(revoked.revoked_at), gateway.clock.now())
  assert.equal(await models(gateway, key), 401)
  gateway.clock.advance(1_000)
  assert.deepEqual((await change('revoke')).json(), revoked)
  assertError(await change('rotate'), 'INVALID_PARAMETER', 'key_id')
  for (const verb of ['rotate', 'revoke'] as const) {
    assertError(await change(verb, 'nothing'), 'NOT_FOUND')
  }
})

test("5.3 a key is its id and its secret: neither opens anything with the other's", async (t) => {
  const gateway = await startGateway(t, ADMIN)
  const [one, other] = [await makeKey(gateway), await makeKey(gateway)]
  const [, , secret] = one.key.split('_')
  for (const key of [
    `sep_${other.key_id}_${secret}`,
    `sep_${one.key_id}_`,
    `sep_${one.key_id}`,
    secret,
    one.key.toUpperCase(),
    `sep__${secret}`,
    `sep_bootstrap_${secret}`,
  ]) {
    assert.equal(await models(gateway, key), 401, key)
  }
})

test('extension: a wrong key is refused, with what is wrong', async (t) => {
  const gateway = await startGateway(t, ADMIN)
  const post = (body: object) => admin(gateway, 'POST', 'keys', body)
  const scopes = ['models:read']
  assertError(await post({}), 'INVALID_REQUEST', 'scopes')
  assertError(await post({ scopes: [] }), 'INVALID_PARAMETER', 'scopes')
  assertError(
    await post({ scopes: ['models:read', 'models:write'] }),
    'INVALID_PARAMETER',
    'scopes[1]',
  )
  assertError(await post({ scopes: [...scopes, ...scopes] }), 'INVALID_PARAMETER', 'scopes')
  assertError(await post({ scopes, account_id: 'nobody' }), 'INVALID_PARAMETER', 'account_id')
  for (const expires of ['30', 'soon', '-1d', '0d', '101y', '9999999999999y']) {
    assertError(await post({ scopes, expires }), 'INVALID_PARAMETER', 'expires')
  }
  assert.deepEqual((await admin(gateway, 'GET', 'keys?account_id=default')).json().data, [])
})

test('5.6 the first start makes a key, an operator may set one, and set the one that was made', async (t) => {
  const gateway = await startGateway(t)
  await gateway.store.deleteFrom('api_keys').execute()
  const start = (bootstrapApiKey?: string) => {
    gateway.clock.advance(1)
    const now = new Date(gateway.clock.now()).toISOString()
    return ensureFirstApiKey(gateway.store, { dataFolder: gateway.folder, bootstrapApiKey, now })
  }
  await start()
  const made = (await readFile(join(gateway.folder, 'api-key'), 'utf8')).trim()
  await start()
  assert.equal(await models(gateway, made), 200)
  for (const key of [made, 'any-form-will-do', 'sep_looks_like_ours', 'any-form-will-do']) {
    await start(key)
    assert.equal(await models(gateway, key), 200, key)
  }
  assert.equal(await models(gateway, 'sep_looks_like_ours'), 401, 'another was set in its place')
  assert.equal(await models(gateway, made), 200)
  await start(made)
  assert.equal(await models(gateway, 'any-form-will-do'), 401, 'the one made was set in its place')
  assert.equal(await models(gateway, made), 200)
  await start('any-form-will-do')
  assert.equal(await models(gateway, 'any-form-will-do'), 200)
  const changes = (await gateway.rows('changes')).toSorted((a, b) =>
    a.created_at.localeCompare(b.created_at),
  )
  assert.deepEqual(
    changes.map(({ action, tool, origin }) => [action, tool, origin]),
    ['create', 'create', 'rotate', 'rotate', 'revoke', 'restore'].map((act) => [
      `key.${act}`,
      ...['gateway', hostname()],
    ]),
  )
})
