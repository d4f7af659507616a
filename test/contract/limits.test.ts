/** Extensions that answer 429: calls of a key, and requests that wait. */

import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import type { ErrorCode } from '../../shared/errors.ts'
import { keyIdOf } from '../../gateway/accounts/auth.ts'
import { sweep } from '../../gateway/files/sweeper.ts'
import { assertError } from '../support/gateway/assert-shape.ts'
import { assertMediaSums } from '../support/gateway/media-sums.ts'
import { ADMIN, admin } from '../support/gateway/admin.ts'
import {
  API,
  byAnother,
  FILE_BYTES,
  type Gateway,
  startGateway,
  withKey,
} from '../support/gateway/start-gateway.ts'

test('8 calls of a key beyond its limit answer 429 until the minute is over', async (t) => {
  const gateway = await startGateway(t, { rateLimitPerMinute: 3 })
  const call = () => gateway.call('GET', `${API}/requests/req_1/status`)
  for (let left = 2; left >= 0; left -= 1) {
    const reply = await call()
    assertError(reply, 'NOT_FOUND')
    assert.equal(reply.headers['ratelimit-remaining'], String(left))
  }
  const refused = await call()
  assertError(refused, 'RATE_LIMITED')
  assert.equal(refused.headers['retry-after'], '60')
  assert.equal(refused.headers['ratelimit-remaining'], '0')
  assert.match(refused.json().error.message, /3 times in a minute/)
  assertError(await gateway.call('GET', '/v1/models'), 'RATE_LIMITED')
  gateway.clock.advance(59_999)
  assert.equal((await call()).headers['retry-after'], '1')
  gateway.clock.advance(1)
  assertError(await call(), 'NOT_FOUND')
})

test("8 the limit is each key's own, and what needs no key has none", async (t) => {
  const gateway = await startGateway(t, { rateLimitPerMinute: 2 })
  const fileId = await gateway.uploadFile({})
  await gateway.call('GET', `/v1/files/${fileId}`)
  assertError(await gateway.call('GET', `/v1/files/${fileId}`), 'RATE_LIMITED')
  const { call: other } = await byAnother(gateway)
  assertError(await other('GET', `/v1/files/${fileId}`), 'NOT_FOUND')
  assertError(await gateway.call('GET', '/v1/models', { key: 'sep_wrong' }), 'UNAUTHENTICATED')
  for (const url of ['/healthz', '/readyz', '/v1/openapi.json']) {
    for (let i = 0; i < 4; i += 1) assert.equal((await gateway.call('GET', url)).statusCode, 200)
  }
  for (let i = 0; i < 4; i += 1) {
    assertError(await gateway.call('GET', `/media/inputs/${fileId}`), 'PERMISSION_DENIED')
  }
})

test('8 a full queue answers 429, stores nothing, and has room again when one is taken', async (t) => {
  const gateway = await startGateway(t, { config: { queueMax: 4 } })
  const file_id = await gateway.uploadFile()
  const replies = await Promise.all(Array.from({ length: 8 }, () => gateway.submit({ file_id })))
  const refused = replies.filter((reply) => reply.statusCode !== 202)
  assert.equal(refused.length, 6)
  for (const reply of refused) {
    assertError(reply, 'RATE_LIMITED')
    assert.match(reply.json().error.message, /queue is full: your account has 2 of the 2 requests/)
    assert.equal(reply.headers['retry-after'], '30')
  }
  assert.equal((await gateway.rows('requests')).length, 2)
  assert.equal((await gateway.rows('outbox')).length, 2)
  for (let others = 0; others < 2; others += 1) {
    const other = await byAnother(gateway)
    assert.equal((await other.submit()).statusCode, 202)
    assertError(await other.submit(), 'RATE_LIMITED')
  }
  const late = await byAnother(gateway)
  const full = await late.submit()
  assertError(full, 'RATE_LIMITED')
  assert.match(full.json().error.message, /4 requests are waiting, and no more are taken now/)
  const taken = replies.find((reply) => reply.statusCode === 202)?.json().request_id
  await gateway.event('started', taken)
  assert.equal((await late.submit()).statusCode, 202)
})

test('8 the files of an account hold no more than they may, pending ones too', async (t) => {
  const gateway = await startGateway(t, {
    config: { mediaBytesMaxPerAccount: 2 * FILE_BYTES.length },
  })
  const replies = await Promise.all(Array.from({ length: 6 }, () => gateway.createFile()))
  const refused = replies.filter((reply) => reply.statusCode !== 201)
  assert.equal(refused.length, 4)
  for (const reply of refused) {
    assertError(reply, 'MEDIA_QUOTA_EXCEEDED')
    assert.match(reply.json().error.message, /holds 16 bytes of the 16 bytes that it may/)
    assert.equal(reply.headers['retry-after'], '3600')
  }
  assert.equal((await gateway.rows('files')).length, 2)
  const other = await byAnother(gateway)
  assert.equal((await other.createFile()).statusCode, 201)
  gateway.clock.advance(3_600_000)
  await sweep(gateway.deps)
  assert.equal((await gateway.createFile()).statusCode, 201)
})

/** A gateway whose account has limits of its own, and another account's calls, which has none. */
async function startLimited(t: TestContext, limits: object) {
  const gateway = await startGateway(t, ADMIN)
  const put = (path: string, body: object) => admin(gateway, 'PUT', `${path}/limits`, body)
  const id = gateway.accountId
  const set = await put(`accounts/${id}`, limits)
  assert.equal(set.statusCode, 200, set.body)
  const other = await byAnother(gateway)
  const standing = async () => (await gateway.call('GET', '/v1/account')).json().limits
  return { gateway, other, standing, put, id, set }
}

test('8 of files created at the same moment, at two gateways, as many are taken as may be', async (t) => {
  const config = { filesMaxPerAccount: 5 }
  const gateway = await startGateway(t, { config })
  const isShared = gateway.database.url !== undefined
  const other = isShared ? await startGateway(t, { config, beside: gateway }) : gateway
  const both = [gateway, withKey(other, gateway.key, gateway.accountId)]
  const replies = await Promise.all(Array.from({ length: 12 }, (_, i) => both[i % 2]!.createFile()))
  const refused = replies.filter(({ statusCode }) => statusCode !== 201)
  assert.equal(refused.length, 7)
  assertError(refused[0]!, 'RATE_LIMITED')
  assert.match(refused[0]!.json().error.message, /may hold 5 files at once/)
  await assertMediaSums(gateway.store)
})

test('an operator sets limits of one account, which it sees with what is used', async (t) => {
  const { gateway, standing, put, id, set } = await startLimited(t, { queued_requests: 2 })
  const none = { max: null, used: 0 }
  assert.equal(set.json().own_limits.queued_requests, 2)
  assert.equal(set.json().own_limits.streams, null)
  await gateway.submitted()
  const { queued_requests, concurrent_jobs, seconds_per_month, streams } = await standing()
  assert.deepEqual(queued_requests, { max: 2, used: 1 })
  assert.deepEqual(concurrent_jobs, { max: null, used: 1 })
  assert.deepEqual([seconds_per_month, streams], [none, { max: 1_000, used: 0 }])
  for (const limits of [{ streams: 0 }, { streams: 1.5 }, { stream: 1 }]) {
    assert.equal((await put(`accounts/${id}`, limits)).statusCode, 400)
  }
  assertError(await put('accounts/acct_none', {}), 'NOT_FOUND')
  assert.equal((await put(`accounts/${id}`, {})).json().own_limits.queued_requests, null)
  assert.equal((await standing()).queued_requests.max, null)
})

/** The class of a new request, or why it is refused. */
async function classOf(gateway: Gateway, body: object = {}): Promise<string> {
  const reply = await gateway.submit({}, body)
  if (reply.statusCode === 202) return (await gateway.statusOf(reply.json().request_id)).priority
  assertError(reply, 'INVALID_PARAMETER', 'priority')
  return reply.json().error.message
}

test('a request has the class that it asks for, up to that of its account', async (t) => {
  const { gateway, other, put, id } = await startLimited(t, {})
  const classes = [await classOf(gateway), await classOf(gateway, { priority: 'batch' })]
  assert.deepEqual(classes, ['interactive', 'batch'])
  assert.match(await classOf(gateway, { priority: 'urgent' }), /priority/)

  const set = await put(`accounts/${id}`, { priority: 'batch' })
  assert.equal(set.json().own_limits.priority, 'batch')
  assert.equal((await gateway.call('GET', '/v1/account')).json().priority, 'batch')
  assert.equal(await classOf(gateway), 'batch')
  const higher = { priority: 'interactive' }
  assert.match(await classOf(gateway, higher), /your account may not send/)
  assert.equal(await classOf(other, higher), 'interactive')
  assert.equal((await put(`accounts/${id}`, { priority: 'urgent' })).statusCode, 400)
})

test('a request has the class of its key unless it asks for a lower one, as its account allows', async (t) => {
  const { gateway, put, id } = await startLimited(t, {})
  const keyId = keyIdOf(gateway.key)
  const classes = async () => [
    await classOf(gateway),
    await classOf(gateway, { priority: 'batch' }),
    await classOf(gateway, { priority: 'interactive' }),
  ]
  const set = await put(`keys/${keyId}`, { priority: 'batch' })
  assert.deepEqual([set.json().priority, set.json().calls_per_minute], ['batch', null])
  assert.equal((await gateway.call('GET', '/v1/account')).json().priority, 'batch')
  const refusal = 'priority must be batch: your key may not send interactive requests.'
  assert.deepEqual(await classes(), ['batch', 'batch', refusal])
  await put(`keys/${keyId}`, { priority: 'interactive' })
  assert.deepEqual(await classes(), ['interactive', 'batch', 'interactive'])
  await put(`accounts/${id}`, { priority: 'batch' })
  assert.deepEqual(
    await classes(),
    ['batch', 'batch', refusal.replace('key', 'account')],
    "its account's goes before",
  )
  await put(`accounts/${id}`, {})
  assert.equal((await put(`keys/${keyId}`, {})).json().priority, null)
  assert.equal(await classOf(gateway), 'interactive')
})

test('batch leaves a quarter of the places in the queue to interactive requests', async (t) => {
  const { gateway } = await startLimited(t, { queued_requests: 4 })
  const send = (priority: string) => gateway.submit({}, { priority })
  for (let i = 0; i < 3; i += 1) assert.equal((await send('batch')).statusCode, 202)
  const refused = await send('batch')
  assertError(refused, 'RATE_LIMITED')
  assert.match(refused.json().error.message, /has 3 requests waiting.*of 4, 1 are kept from batch/)
  assert.equal((await send('interactive')).statusCode, 202)
  assertError(await send('interactive'), 'RATE_LIMITED')
})

test('an interactive request goes before the batch of its own account, which leaves it a job', async (t) => {
  const { gateway } = await startLimited(t, { concurrent_jobs: 4 })
  const given = () => gateway.broker.jobs.size
  for (let i = 0; i < 5; i += 1) await gateway.submit({}, { priority: 'batch' })
  await gateway.publish()
  assert.equal(given(), 3, 'one of four jobs is kept from batch')
  gateway.clock.advance(2_001) // what is held back is looked at again
  for (let i = 0; i < 64; i += 1) await gateway.submit({}, { priority: 'batch' })
  const { request_id: urgent } = (await gateway.submit()).json()
  await gateway.publish()
  assert.equal(given(), 4)
  assert.equal(gateway.broker.queues.get(urgent), 'short')
})

test("an account's own limits of requests, streams and files hold for it alone", async (t) => {
  const limits = { queued_requests: 1, streams: 1, media_bytes: 5_000, file_bytes: 3_000 }
  const { gateway, other } = await startLimited(t, limits)
  const refused = (reply: Awaited<ReturnType<Gateway['call']>>, code: ErrorCode, name: string) => {
    assertError(reply, code)
    assert.match(reply.json().error.message, new RegExp(`limit ${name} of this account`))
  }
  refused(await gateway.createFile({ file_size: 3_001 }), 'PAYLOAD_TOO_LARGE', 'file_bytes')
  assert.equal((await gateway.createFile({ file_size: 3_000 })).statusCode, 201)
  refused(await gateway.createFile({ file_size: 2_001 }), 'MEDIA_QUOTA_EXCEEDED', 'media_bytes')
  assert.equal((await other.createFile({ file_size: 9_000 })).statusCode, 201)
  const requestId = await gateway.submitted()
  refused(await gateway.submit(), 'RATE_LIMITED', 'queued_requests')
  assert.equal((await other.submit()).statusCode, 202)
  assert.equal((await other.submit()).statusCode, 202)
  const watch = gateway.feed.watch(requestId, gateway.accountId)
  const stream = await gateway.call('GET', `${API}/requests/${requestId}/status/stream`)
  refused(stream, 'RATE_LIMITED', 'streams')
  watch.close()
})

test("a key's own rate goes before its account's", async (t) => {
  const { gateway, put } = await startLimited(t, { calls_per_minute: 3 })
  const first = await gateway.call('GET', '/v1/models')
  assert.equal(first.headers['ratelimit-limit'], '3')
  const keyId = keyIdOf(gateway.key)
  assert.equal((await put(`keys/${keyId}`, { calls_per_minute: 1 })).json().calls_per_minute, 1)
  const refused = await gateway.call('GET', '/v1/models')
  assertError(refused, 'RATE_LIMITED')
  assert.match(refused.json().error.message, /limit calls_per_minute of this key/)
})

test('of the jobs of an account as many are given to engines as it may have', async (t) => {
  const { gateway, other } = await startLimited(t, { concurrent_jobs: 1 })
  const ids = [await gateway.submitted(), await gateway.submitted()]
  const others = [await other.submitted(), await other.submitted()]
  const published = () => [...ids, ...others].filter((id) => gateway.broker.queues.has(id))
  await gateway.publish()
  assert.deepEqual(published(), [ids[0], ...others])
  await gateway.event('started', ids[0]!)
  await gateway.event('completed', ids[0]!)
  gateway.clock.advance(2_001)
  await gateway.publish()
  assert.deepEqual(published(), [...ids, ...others])
})

test("the seconds of an account's month are used up, until the next begins", async (t) => {
  const { gateway, other, standing } = await startLimited(t, { seconds_per_month: 5 })
  const requestId = await gateway.submitted()
  await gateway.event('started', requestId)
  await gateway.event('completed', requestId)
  const { used } = (await standing()).seconds_per_month
  assert.ok(used >= 5, `${used}`)
  const refused = await gateway.submit()
  assertError(refused, 'RATE_LIMITED')
  assert.match(refused.json().error.message, /limit seconds_per_month of this account/)
  assert.equal((await other.submit()).statusCode, 202)
  gateway.clock.advance(1_000 * Number(refused.headers['retry-after']))
  assert.equal((await gateway.submit()).statusCode, 202)
})
