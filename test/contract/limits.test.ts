/** Extensions that answer 429: calls of a key, and requests that wait. */

import assert from 'node:assert/strict'
import test from 'node:test'
import { sweep } from '../../gateway/files/sweeper.ts'
import { assertError } from '../support/gateway/assert-shape.ts'
import { assertMediaSums } from '../support/gateway/media-sums.ts'
import {
  API,
  callWith,
  createFileBody,
  FILE_BYTES,
  startGateway,
  submit,
  submitted,
  uploadFile,
  type Gateway,
} from '../support/gateway/start-gateway.ts'

const countRequests = async ({ store }: Gateway): Promise<number> =>
  (await store.selectFrom('requests').select('request_id').execute()).length

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
  const fileId = await uploadFile(gateway, {})
  await gateway.call('GET', `/v1/files/${fileId}`)
  assertError(await gateway.call('GET', `/v1/files/${fileId}`), 'RATE_LIMITED')
  const other = callWith(gateway, await gateway.newKey())
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
  const file_id = await uploadFile(gateway)
  const replies = await Promise.all(Array.from({ length: 8 }, () => submit(gateway, { file_id })))
  const refused = replies.filter((reply) => reply.statusCode !== 202)
  assert.equal(refused.length, 6)
  for (const reply of refused) {
    assertError(reply, 'RATE_LIMITED')
    assert.match(reply.json().error.message, /queue is full: your account has 2 of the 2 requests/)
    assert.equal(reply.headers['retry-after'], '30')
  }
  assert.equal(await countRequests(gateway), 2)
  assert.equal((await gateway.store.selectFrom('outbox').selectAll().execute()).length, 2)
  for (let others = 0; others < 2; others += 1) {
    const other = { ...gateway, call: callWith(gateway, await gateway.newKey()) }
    assert.equal((await submit(other)).statusCode, 202)
    assertError(await submit(other), 'RATE_LIMITED')
  }
  const late = { ...gateway, call: callWith(gateway, await gateway.newKey()) }
  const full = await submit(late)
  assertError(full, 'RATE_LIMITED')
  assert.match(full.json().error.message, /4 requests are waiting, and no more are taken now/)
  const taken = replies.find((reply) => reply.statusCode === 202)?.json().request_id
  await gateway.event('started', taken)
  assert.equal((await submit(late)).statusCode, 202)
})

test('8 an account may have its own bound', async (t) => {
  const gateway = await startGateway(t, { config: { queueMaxPerAccount: 1 } })
  const requestId = await submitted(gateway)
  assertError(await submit(gateway), 'RATE_LIMITED')
  const other = { ...gateway, call: callWith(gateway, await gateway.newKey()) }
  assert.equal((await submit(other)).statusCode, 202)
  await gateway.call('PUT', `${API}/requests/${requestId}/cancel`)
  assert.equal((await submit(gateway)).statusCode, 202)
})

const createFile = (gateway: Gateway, call = gateway.call) =>
  call('POST', '/v1/files', { body: createFileBody() })

test('8 the files of an account hold no more than they may, pending ones too', async (t) => {
  const gateway = await startGateway(t, {
    config: { mediaBytesMaxPerAccount: 2 * FILE_BYTES.length },
  })
  const replies = await Promise.all(Array.from({ length: 6 }, () => createFile(gateway)))
  const refused = replies.filter((reply) => reply.statusCode !== 201)
  assert.equal(refused.length, 4)
  for (const reply of refused) {
    assertError(reply, 'MEDIA_QUOTA_EXCEEDED')
    assert.match(reply.json().error.message, /holds 16 bytes of the 16 bytes that it may/)
    assert.equal(reply.headers['retry-after'], '3600')
  }
  assert.equal((await gateway.store.selectFrom('files').select('file_id').execute()).length, 2)
  const other = callWith(gateway, await gateway.newKey())
  assert.equal((await createFile(gateway, other)).statusCode, 201)
  gateway.clock.advance(3_600_000)
  await sweep(gateway.deps)
  assert.equal((await createFile(gateway)).statusCode, 201)
})

test('8 of files created at the same moment, at two gateways, as many are taken as may be', async (t) => {
  const config = { filesMaxPerAccount: 5 }
  const gateway = await startGateway(t, { config })
  const isShared = gateway.database.url !== undefined
  const other = isShared ? await startGateway(t, { config, beside: gateway }) : gateway
  const calls = [gateway.call, callWith(other, gateway.key)]
  const replies = await Promise.all(
    Array.from({ length: 12 }, (_, i) => createFile(gateway, calls[i % 2])),
  )
  const refused = replies.filter(({ statusCode }) => statusCode !== 201)
  assert.equal(refused.length, 7)
  assertError(refused[0]!, 'RATE_LIMITED')
  assert.match(refused[0]!.json().error.message, /may hold 5 files at once/)
  await assertMediaSums(gateway.store)
})
