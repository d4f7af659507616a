/** Admins who sign in by name with a provider of OpenID Connect, and what their role allows. */

import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { roleFor, ROLES, type Role } from '../../gateway/accounts/roles.ts'
import { WRONG_MAX } from '../../gateway/accounts/wrong-tokens.ts'
import { assertError } from '../support/gateway/assert-shape.ts'
import { ADMIN_TOKEN, admin, adminCalls, knock } from '../support/gateway/admin.ts'
import {
  type Gateway,
  type GatewayOptions,
  PUBLIC_URL,
  startGateway,
} from '../support/gateway/start-gateway.ts'
import { OIDC_CLIENT, signInAt, startOidcProvider } from '../support/http/oidc-provider.ts'

const SIGN_IN = '/admin/sign-in'

const emailOf = (user: string) => ({ email: `${user}@example.com`, email_verified: true })

const USERS = {
  vera: { ...emailOf('vera'), groups: ['Winnow Viewers', 'others'] },
  oscar: { ...emailOf('oscar'), groups: 'winnow-operators' },
  olga: { ...emailOf('olga'), groups: ['Winnow Viewers', 'winnow-owners'] },
  gregor: { ...emailOf('gregor'), groups: ['others'] },
  nemo: { email: 'nemo@example.com', email_verified: false, name: 'Nemo' },
}

/** All other calls read, and are for viewers. */
const OF_OPERATORS = [
  'drainEngine',
  ...['cancelAnyRequest', 'redeliverAnyWebhook'],
  ...['fetchModel', 'loadModel', 'unloadModel', 'removeModel'],
  ...['disableAccount', 'enableAccount', 'limitAccount', 'limitKey'],
]
const OF_OWNERS = [
  ...['createAccount', 'creditAccount', 'deleteAccount'],
  ...['createKey', 'revokeKey', 'rotateKey'],
]

const PROVIDER = { redirectUri: `${PUBLIC_URL}${SIGN_IN}/callback`, users: USERS }

const settingsOf = (issuer: string) => ({
  issuer,
  clientId: OIDC_CLIENT.id,
  clientSecret: OIDC_CLIENT.secret,
  providerName: 'Test Provider',
  scopes: 'openid profile email',
  roleClaim: 'groups',
  valuesOf: {
    owner: ['winnow-owners'],
    operator: ['winnow-operators'],
    viewer: ['Winnow Viewers'],
  },
})

type Oidc = Partial<ReturnType<typeof settingsOf>>

const gatewayWith = (
  t: TestContext,
  issuer: string,
  { oidc, ...options }: GatewayOptions & { oidc?: Oidc } = {},
) =>
  startGateway(t, {
    ...options,
    config: {
      adminToken: ADMIN_TOKEN,
      oidc: { ...settingsOf(issuer), ...oidc },
      ...options.config,
    },
  })

async function start(t: TestContext, options: GatewayOptions & { oidc?: Oidc } = {}) {
  const provider = await startOidcProvider(t, PROVIDER)
  return { provider, gateway: await gatewayWith(t, provider.issuer, options) }
}

/** What the browser keeps of a reply, as it sends it back. */
function cookieOf(reply: Awaited<ReturnType<Gateway['call']>>): string {
  const [cookie] = [reply.headers['set-cookie'] ?? ''].flat()
  const pattern = /^(winnow_sign_in=[\w-]*); Max-Age=\d+; HttpOnly; SameSite=Lax$/
  assert.match(String(cookie), pattern)
  return pattern.exec(String(cookie))![1]!
}

const get = (gateway: Gateway, url: string, cookie = '') =>
  gateway.call('GET', url, { headers: { cookie } })

/** Begins a sign-in. @returns the provider's address and the browser's cookie */
async function begin(gateway: Gateway) {
  const reply = await get(gateway, `${SIGN_IN}/start`)
  assert.equal(reply.statusCode, 302, reply.body)
  return { url: String(reply.headers.location), cookie: cookieOf(reply) }
}

/** Comes back from the provider, and lets the page ask for its session. */
async function end(gateway: Gateway, callback: string, cookie: string) {
  const back = await get(gateway, callback, cookie)
  assert.equal(back.statusCode, 302, back.body)
  assert.equal(back.headers.location, `${PUBLIC_URL}/#signed-in`)
  const headers = { cookie: cookieOf(back) }
  return gateway.call('POST', `${SIGN_IN}/session`, { headers })
}

async function signIn(gateway: Gateway, login: keyof typeof USERS) {
  const { url, cookie } = await begin(gateway)
  return end(gateway, await signInAt(url, login), cookie)
}

async function tokenOf(gateway: Gateway, login: keyof typeof USERS): Promise<string> {
  const reply = await signIn(gateway, login)
  assert.equal(reply.statusCode, 200, reply.body)
  return reply.json().token
}

const fleet = (gateway: Gateway, token?: string) => admin(gateway, 'GET', 'fleet', undefined, token)

const session = (gateway: Gateway, method: 'GET' | 'POST' | 'DELETE', token: string) =>
  admin(gateway, method, 'session', undefined, token)

const assertRefused = (reply: Awaited<ReturnType<Gateway['call']>>, message: RegExp) => {
  assertError(reply, 'UNAUTHENTICATED')
  assert.match(reply.json().error.message, message)
}

test('extension: each call of the admin API takes its role, and one that is new takes an owner', async (t) => {
  const { gateway } = await start(t)
  const tokens: Record<Role, string> = {
    viewer: await tokenOf(gateway, 'vera'),
    operator: await tokenOf(gateway, 'oscar'),
    owner: await tokenOf(gateway, 'olga'),
  }
  for (const call of await adminCalls(gateway)) {
    const { method, path, operationId } = call
    const least = OF_OPERATORS.includes(operationId)
      ? 'operator'
      : OF_OWNERS.includes(operationId)
        ? 'owner'
        : 'viewer'
    if (least === 'viewer') assert.equal(method, 'GET', path)
    for (const role of ROLES) {
      const reply = await knock(gateway, call, tokens[role])
      const isAllowed = ROLES.indexOf(role) >= ROLES.indexOf(least)
      assert.equal(
        reply.statusCode !== 403,
        isAllowed,
        `${method} ${path} as ${role}: ${reply.body}`,
      )
      if (isAllowed) continue
      assertError(reply, 'PERMISSION_DENIED')
      assert.match(reply.json().error.message, new RegExp(`takes the role ${least}, .* as ${role}`))
    }
  }
  assert.equal(roleFor('PATCH', '/admin/fleet'), 'owner')
  for (const role of ROLES) {
    const shown = (await session(gateway, 'GET', tokens[role])).json()
    assert.equal(shown.role, role)
    assert.equal((await session(gateway, 'DELETE', tokens[role])).statusCode, 204)
    assertRefused(await fleet(gateway, tokens[role]), /has ended: sign in/)
  }
  const holder = (await session(gateway, 'GET', ADMIN_TOKEN)).json()
  assert.deepEqual(holder, { role: 'owner', subject: null, name: null, expires_at: null })
})

test('extension: the record of changes and the log say who made a change, and no log has a token', async (t) => {
  const { gateway } = await start(t)
  const token = await tokenOf(gateway, 'olga')
  const body = { name: 'Studio' }
  gateway.clock.advance(1)
  const account = (await admin(gateway, 'POST', 'accounts', body, token)).json()
  gateway.clock.advance(1)
  await admin(gateway, 'POST', 'accounts', body)
  const changes = (await admin(gateway, 'GET', 'changes', undefined, token)).json().data
  const shown = changes.map((change: Record<string, string>) => [
    change['action'],
    change['admin_subject'],
    change['admin_name'],
  ])
  assert.deepEqual(shown.slice(-3), [
    ['account.create', null, null],
    ['account.create', 'olga', 'olga@example.com'],
    ['session.open', 'olga', 'olga@example.com'],
  ])
  assert.deepEqual(JSON.parse(changes.at(-1).details).role, 'owner')
  assert.match(account.account_id, /^acct_/)
  const lines = JSON.stringify([gateway.logged('info'), gateway.logged('error')])
  assert.match(lines, /"adminSubject":"olga"/)
  for (const secret of [token, OIDC_CLIENT.secret, 'code=']) assert.ok(!lines.includes(secret))
})

test('extension: a sign-in goes on at another gateway, and ends at all of them', async (t) => {
  const { gateway, provider } = await start(t)
  const other = await gatewayWith(t, provider.issuer, { beside: gateway })
  const { url, cookie } = await begin(gateway)
  const query = new URL(url).searchParams
  assert.equal(query.get('code_challenge_method'), 'S256')
  const back = await get(other, await signInAt(url, 'oscar'), cookie)
  const opened = await gateway.call('POST', `${SIGN_IN}/session`, {
    headers: { cookie: cookieOf(back) },
  })
  const { token } = opened.json()
  for (const each of [gateway, other]) {
    assert.equal((await fleet(each, token)).statusCode, 200)
  }
  assertError(await session(gateway, 'POST', token), 'UNAUTHENTICATED')
  assert.equal((await session(other, 'DELETE', token)).statusCode, 204)
  assertRefused(await fleet(gateway, token), /sign in again/)

  const late = await tokenOf(gateway, 'oscar')
  const middle = Math.floor(late.length / 2) // the last character has bits that count for nothing
  const other64 = late[middle] === 'A' ? 'B' : 'A'
  const forged = late.slice(0, middle) + other64 + late.slice(middle + 1)
  assertRefused(await fleet(gateway, forged), /has ended/)
  const changed = await gatewayWith(t, provider.issuer, {
    beside: gateway,
    oidc: { roleClaim: 'roles' },
  })
  assertRefused(await fleet(changed, late), /has ended/)
  gateway.clock.advance(12 * 3_600_000)
  assertRefused(await fleet(gateway, late), /has ended: sign in again/)
})

test('extension: an answer that is not to this sign-in opens no session', async (t) => {
  const { gateway } = await start(t)
  const changed = async (name: string, where: 'request' | 'answer') => {
    const { url, cookie } = await begin(gateway)
    const asked = new URL(url)
    if (where === 'request') asked.searchParams.set(name, 'A'.repeat(43))
    const answer = new URL(await signInAt(asked.href, 'olga'))
    if (where === 'answer') answer.searchParams.set(name, 'of-somebody-else')
    return end(gateway, answer.href, cookie)
  }
  assertRefused(await changed('nonce', 'request'), /^Test Provider: .*nonce.*; sign in again/)
  assertRefused(await changed('state', 'request'), /state/)
  assertRefused(await changed('code_challenge', 'request'), /code was used or has expired/)
  assertRefused(await changed('state', 'answer'), /state/)
  assertRefused(await changed('iss', 'answer'), /iss/)
  assertRefused(await changed('code', 'answer'), /code was used or has expired/)
  const { url, cookie } = await begin(gateway)
  const answer = await signInAt(url, 'olga')
  assertRefused(await end(gateway, answer, ''), /begun in another browser/)
  assert.equal((await end(gateway, answer, cookie)).statusCode, 200)
  assertRefused(await end(gateway, answer, cookie), /code was used/)
  const canceled = `${PROVIDER.redirectUri}?error=access_denied&state=${new URL(url).searchParams.get('state')}`
  assertRefused(await end(gateway, canceled, cookie), /iss|refused or canceled/)
  gateway.clock.advance(10 * 60_000)
  assertRefused(await end(gateway, answer, cookie), /ten minutes ago/)
  assertRefused(await gateway.call('POST', `${SIGN_IN}/session`), /No sign-in has ended/)
  const fresh = await begin(gateway)
  const tries = Array.from({ length: WRONG_MAX.fromAnAddress }, () => end(gateway, answer, ''))
  for (const reply of await Promise.all(tries)) assertRefused(reply, /begun in another browser/)
  for (let i = 0; i < WRONG_MAX.fromAnAddress; i += 1) await end(gateway, answer, fresh.cookie)
  assertError(await end(gateway, answer, fresh.cookie), 'RATE_LIMITED')
})

test('extension: who has no role is told which claim gives one', async (t) => {
  const { gateway, provider } = await start(t)
  const refused = async (login: keyof typeof USERS, message: RegExp, by = gateway) => {
    const reply = await signIn(by, login)
    assertError(reply, 'PERMISSION_DENIED')
    assert.match(reply.json().error.message, message)
  }
  await refused('gregor', /^Test Provider has signed you in, but .* "groups" has no value that/)
  await refused('nemo', /"groups" is missing or empty/)
  const valuesOf = { owner: ['olga@example.com'], operator: [], viewer: ['nemo@example.com'] }
  const oidc = { roleClaim: 'email', valuesOf }
  const byEmail = await gatewayWith(t, provider.issuer, { oidc })
  await refused('nemo', /"email" is missing/, byEmail) // it is not verified
  await tokenOf(byEmail, 'olga')
  assert.deepEqual(await gateway.rows('changes'), [])
})

test('extension: a claim may be in the token, and within another', async (t) => {
  const users = { ...USERS, olga: { groups: { 'x.y': { roles: ['winnow-owners'] } } } }
  const provider = await startOidcProvider(t, { ...PROVIDER, users, hasFullTokens: true })
  const oidc = { roleClaim: 'groups.x.y.roles' }
  const lost = await gatewayWith(t, provider.issuer, { oidc })
  assertError(await signIn(lost, 'olga'), 'PERMISSION_DENIED')
  users.olga = { groups: { roles: ['winnow-owners'] } } as never
  const gateway = await gatewayWith(t, provider.issuer, { oidc: { roleClaim: 'groups.roles' } })
  const token = await tokenOf(gateway, 'olga')
  const { role, name } = (await session(gateway, 'GET', token)).json()
  assert.deepEqual([role, name], ['owner', null])
})

test('extension: a provider that is away or another is named, and the admin token goes on', async (t) => {
  const { gateway, provider } = await start(t)
  const { url, cookie } = await begin(gateway)
  const answer = await signInAt(url, 'olga')
  const another = await gatewayWith(t, provider.issuer.replace('127.0.0.1', 'localhost'))
  const problemAtStart = async (by: Gateway) => {
    const reply = await get(by, `${SIGN_IN}/start`)
    assert.equal(reply.headers.location, `${PUBLIC_URL}/#signed-in`)
    const told = await by.call('POST', `${SIGN_IN}/session`, {
      headers: { cookie: cookieOf(reply) },
    })
    assertError(told, 'SERVICE_UNAVAILABLE')
    return told.json().error.message as string
  }
  assert.match(await problemAtStart(another), /issuer is not OIDC_ISSUER/)
  provider.stop()
  const told = await end(gateway, answer, cookie)
  assertError(told, 'SERVICE_UNAVAILABLE')
  assert.match(told.json().error.message, /^Test Provider: it does not answer/)
  const late = await gatewayWith(t, provider.issuer)
  assert.match(await problemAtStart(late), /^Test Provider: it does not answer/)
  assert.equal((await fleet(late)).statusCode, 200)
  assert.deepEqual((await get(late, SIGN_IN)).json(), { provider: 'Test Provider' })
})
