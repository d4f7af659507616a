/** Shares, which play a single result without a key: docs/decisions/accounts.md. */

import assert from 'node:assert/strict'
import test from 'node:test'
import { deleteAccount, disableAccount, enableAccount } from '../../gateway/accounts/accounts.ts'
import { NewShare, SharedResult, ShareList } from '../../gateway/api/share-schemas.ts'
import { sweep } from '../../gateway/files/sweeper.ts'
import { closeAccounts } from '../../gateway/requests/follow/account-closer.ts'
import { SHARES_MAX } from '../../gateway/requests/shares.ts'
import { DAY_MS, HOUR_MS } from '../../shared/durations.ts'
import { assertError, assertShape } from '../support/gateway/assert-shape.ts'
import {
  API,
  byAnother,
  type Gateway,
  PUBLIC_URL,
  startGateway,
  withKey,
} from '../support/gateway/start-gateway.ts'
import { leftRows } from '../support/gateway/stored.ts'

type Caller = Pick<Gateway, 'call'>

const tryShare = ({ call }: Caller, requestId: string, body?: object) =>
  call('POST', `${API}/requests/${requestId}/shares`, body && { body })

async function share(caller: Caller, requestId: string, body?: object) {
  const reply = await tryShare(caller, requestId, body)
  assert.equal(reply.statusCode, 201, reply.body)
  assertShape(NewShare, reply.json())
  assert.equal(reply.headers['cache-control'], 'no-store')
  const { url, ...rest } = reply.json()
  const [address, secret] = url.split('#share=')
  assert.equal(address, `${PUBLIC_URL}/`)
  assert.match(secret, /^shr_[0-9a-f]{64}$/)
  return { ...rest, secret }
}

const read = ({ call }: Caller, secret: string) => call('GET', '/v1/shared', { key: secret })

test('extension: a share plays one result without a key, and reveals nothing about its account', async (t) => {
  const gateway = await startGateway(t)
  const input = { prompts: ['a bell', 'a horn'] }
  const requestId = await gateway.completed(input, { metadata: { order: 'of a customer' } })
  const { secret, expires_at } = await share(gateway, requestId, { expires_in: 7_200 })
  assert.equal(Date.parse(expires_at), gateway.clock.now() + 2 * HOUR_MS)
  const reply = await read(gateway, secret)
  assert.equal(reply.statusCode, 200, reply.body)
  assert.equal(reply.headers['cache-control'], 'no-store')
  const shared = reply.json()
  assertShape(SharedResult, shared)
  assert.deepEqual(shared.prompts, ['a bell', 'a horn'])
  assert.equal(shared.file_name, 'concert.m4a')
  assert.equal(shared.expires_at, expires_at)
  for (const word of ['metadata', 'customer', 'acct', 'usage', 'inputs']) {
    assert.ok(!reply.body.includes(word), word)
  }
  const files = [...shared.data.targets, shared.data.residual].map(({ url }) => url)
  for (const url of [...files, shared.peaks_url]) {
    assert.equal((await gateway.call('GET', url, { key: null })).statusCode, 200, url)
  }
  // The signature is not valid for the request's other files.
  const other = files[0].replace('/target', '/residual')
  assertError(await gateway.call('GET', other), 'PERMISSION_DENIED')
})

test('extension: addresses of shared media are valid for an hour plus the length of the media', async (t) => {
  const gateway = await startGateway(t)
  const { secret } = await share(gateway, await gateway.completed())
  const { data } = (await read(gateway, secret)).json()
  const fetch = () => gateway.call('GET', data.target.url, { key: null })
  gateway.clock.advance(HOUR_MS + 12_000)
  assert.equal((await fetch()).statusCode, 200)
  gateway.clock.advance(1_000)
  assertError(await fetch(), 'FILE_EXPIRED')
  assert.equal((await read(gateway, secret)).statusCode, 200, 'new ones can be read')
})

test('extension: a share ends at its time, with the outputs at the latest', async (t) => {
  const gateway = await startGateway(t)
  const requestId = await gateway.completed()
  const short = await share(gateway, requestId, { expires_in: 60 })
  const day = await share(gateway, requestId)
  const whole = await share(gateway, requestId, { expires_in: 7 * 86_400 })
  gateway.clock.advance(60_000)
  const late = await share(gateway, requestId, { expires_in: 7 * 86_400 })
  assert.equal(late.expires_at, whole.expires_at, 'the outputs are deleted then')
  assertError(await read(gateway, short.secret), 'UNAUTHENTICATED')
  gateway.clock.advance(DAY_MS - 60_001)
  const { data } = (await read(gateway, day.secret)).json()
  gateway.clock.advance(2)
  assertError(await read(gateway, day.secret), 'UNAUTHENTICATED')
  assertError(await gateway.call('GET', data.target.url), 'FILE_EXPIRED')
  assert.equal((await read(gateway, whole.secret)).statusCode, 200)
  gateway.clock.advance(6 * DAY_MS)
  assertError(await read(gateway, whole.secret), 'UNAUTHENTICATED')
  await sweep(gateway.deps)
  assert.ok(!(await leftRows(gateway)).includes('shares'))
})

test('extension: shares are listed without their secrets, and revoked at once', async (t) => {
  const gateway = await startGateway(t)
  const [one, two] = [await gateway.completed(), await gateway.completed()]
  const first = await share(gateway, one)
  gateway.clock.advance(1_000)
  const second = await share(gateway, two)
  const listed = await gateway.call('GET', '/v1/shares')
  assertShape(ShareList, listed.json())
  const withoutSecret = [second, first].map(({ secret: _secret, ...rest }) => rest)
  assert.deepEqual(listed.json().data, withoutSecret)
  const rows = JSON.stringify(await gateway.rows('shares'))
  assert.ok(!rows.includes(first.secret.slice(4)))

  const stranger = await byAnother(gateway)
  assert.deepEqual((await stranger.call('GET', '/v1/shares')).json().data, [])
  const path = `/v1/shares/${first.share_id}`
  assertError(await stranger.call('DELETE', path), 'NOT_FOUND')
  assert.equal((await read(gateway, first.secret)).statusCode, 200)
  assert.equal((await gateway.call('DELETE', path)).statusCode, 204)
  assertError(await read(gateway, first.secret), 'UNAUTHENTICATED')
  assertError(await gateway.call('DELETE', path), 'NOT_FOUND')
  assertError(await gateway.call('DELETE', `/v1/shares/${'x'.repeat(5_000)}`), 'NOT_FOUND')
  assert.equal((await read(gateway, second.secret)).statusCode, 200)
})

test('extension: whoever may read a result may share it, once it exists', async (t) => {
  const gateway = await startGateway(t)
  const requestId = await gateway.submitted()
  assertError(await tryShare(gateway, requestId), 'RESULT_NOT_READY')
  await gateway.complete(requestId)
  const reader = withKey(gateway, await gateway.newKey(['files:read']))
  assertError(await tryShare(reader, requestId), 'PERMISSION_DENIED')
  assertError(await reader.call('GET', '/v1/shares'), 'PERMISSION_DENIED')
  const stranger = await byAnother(gateway)
  assertError(await tryShare(stranger, requestId), 'NOT_FOUND')
  for (const [expires_in, code] of [
    [59, 'INVALID_PARAMETER'],
    [604_801, 'INVALID_PARAMETER'],
    [1.5, 'INVALID_REQUEST'],
    ['60', 'INVALID_REQUEST'],
  ] as const) {
    assertError(await tryShare(gateway, requestId, { expires_in }), code, 'expires_in')
  }
  assertError(await tryShare(gateway, requestId, { days: 1 }), 'INVALID_REQUEST', 'days')
  assertError(await tryShare(gateway, await gateway.failed()), 'REQUEST_FAILED')
})

test("extension: a share's secret is not an API key, and an API key is not a secret", async (t) => {
  const gateway = await startGateway(t)
  const { secret } = await share(gateway, await gateway.completed())
  for (const path of ['/v1/account', '/v1/shares', `${API}/requests`]) {
    assertError(await gateway.call('GET', path, { key: secret }), 'UNAUTHENTICATED')
  }
  for (const wrong of [gateway.key, secret.slice(0, -1), secret.toUpperCase(), 'shr_']) {
    assertError(await read(gateway, wrong), 'UNAUTHENTICATED')
  }
  assertError(await gateway.call('GET', '/v1/shared', { key: null }), 'UNAUTHENTICATED')
})

test('extension: a share is deleted with its request, and suspended while its account is disabled', async (t) => {
  const gateway = await startGateway(t)
  const own = await byAnother(gateway)
  const [one, two] = [await own.completed(), await own.completed()]
  const [first, second] = [await share(own, one), await share(own, two)]
  assert.equal((await own.call('DELETE', `${API}/requests/${one}`)).statusCode, 204)
  assertError(await read(gateway, first.secret), 'UNAUTHENTICATED')

  await disableAccount(gateway.deps, own.accountId)
  assertError(await read(gateway, second.secret), 'UNAUTHENTICATED')
  await enableAccount(gateway.deps, own.accountId)
  assert.equal((await read(gateway, second.secret)).statusCode, 200)

  await deleteAccount(gateway.deps, own.accountId)
  assertError(await read(gateway, second.secret), 'UNAUTHENTICATED')
  while ((await closeAccounts(gateway.deps)) > 0);
  assert.ok(!(await leftRows(gateway)).includes('shares'))
})

test('extension: the shares of a request and of an account, and the calls of each share, are limited', async (t) => {
  const gateway = await startGateway(t, { rateLimitPerMinute: 20 })
  const requestId = await gateway.completed()
  const one = await share(gateway, requestId, { expires_in: 100 })
  const [two, three] = [await share(gateway, requestId), await share(gateway, requestId)]
  for (let i = 3; i < SHARES_MAX.perRequest; i++) await share(gateway, requestId)
  const full = await tryShare(gateway, requestId)
  assertError(full, 'RATE_LIMITED')
  assert.equal(full.headers['retry-after'], '100')
  assert.match(full.json().error.message, /^A request may have 10 shares at once/)
  await gateway.call('DELETE', `/v1/shares/${one.share_id}`)
  const [row] = await gateway.rows('shares')
  gateway.clock.advance(60_000) // for more calls
  const other = await gateway.completed()
  for (let i = SHARES_MAX.perRequest - 1; i < SHARES_MAX.perAccount; i++) {
    const more = { share_id: `share_${i}`, secret_hash: `${i}`, request_id: other }
    await gateway.store
      .insertInto('shares')
      .values({ ...row!, ...more })
      .execute()
  }
  assert.match(
    (await tryShare(gateway, requestId)).json().error.message,
    /^An account may have 200/,
  )

  for (let i = 0; i < 20; i++) assert.equal((await read(gateway, two.secret)).statusCode, 200)
  const refused = await read(gateway, two.secret)
  assertError(refused, 'RATE_LIMITED')
  assert.match(refused.json().error.message, /^A share may call 20 times/)
  assert.equal((await read(gateway, three.secret)).statusCode, 200, 'others are not affected')
})

test('extension: log lines say who shared and who read, but never a secret', async (t) => {
  const gateway = await startGateway(t)
  const requestId = await gateway.completed()
  const { secret, share_id: shareId } = await share(gateway, requestId)
  await read(gateway, secret)
  await gateway.call('DELETE', `/v1/shares/${shareId}`)
  const lines = gateway.logged('info').filter((line) => line.shareId === shareId)
  assert.deepEqual(
    lines.map(({ msg }) => msg),
    ['shared a result', 'answered a shared result', 'revoked a share'],
  )
  assert.ok(lines.every(({ accountId }) => typeof accountId === 'string'))
  assert.ok(!JSON.stringify(gateway.logged('info')).includes(secret.slice(4, 20)))
})

test('extension: without the page there are no shares', async (t) => {
  const gateway = await startGateway(t, { config: { playground: 'off' } })
  const requestId = await gateway.completed()
  assertError(await tryShare(gateway, requestId), 'NOT_FOUND')
  assertError(await gateway.call('GET', '/v1/shared'), 'NOT_FOUND')
})
