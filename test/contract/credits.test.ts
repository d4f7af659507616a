/** Credits: what is reserved, what is charged, and when nothing is (docs/decisions/accounts.md). */

import assert from 'node:assert/strict'
import test from 'node:test'
import { creditAccount } from '../../gateway/accounts/accounts.ts'
import { assertError } from '../support/gateway/assert-shape.ts'
import { assertSound, meteredAccount } from '../support/gateway/metered.ts'
import {
  API,
  complete,
  startGateway,
  submit,
  submitted,
  uploadFile,
  type Gateway,
} from '../support/gateway/start-gateway.ts'

const statusOf = async (gateway: Gateway, requestId: string) =>
  (await gateway.call('GET', `${API}/requests/${requestId}/status`)).json()

const resultOf = (gateway: Gateway, requestId: string) =>
  gateway.call('GET', `${API}/requests/${requestId}/result`)

test('2.10 a metered account pays for each second begun, and the result says so', async (t) => {
  const gateway = await startGateway(t)
  const { accountId, own, balance } = await meteredAccount(gateway, 20)
  const requestId = await submitted(own)
  assert.deepEqual(await balance(), [20, 1])
  await gateway.event('started', requestId)
  await gateway.event('measured', requestId, { duration: 12.4 })
  assert.deepEqual(await balance(), [20, 13])
  await gateway.event('completed', requestId, { duration: 12.5 })
  assert.deepEqual(await balance(), [7, 0])
  assert.deepEqual((await resultOf(own, requestId)).json().usage, {
    feature: 'audio_seconds',
    quantity: 13,
    billing_status: 'deducted',
  })
  const ledger = await assertSound(gateway.store, accountId)
  assert.deepEqual(ledger.map(({ kind }) => kind).sort(), [
    'credit',
    'deduct',
    'release',
    'reserve',
  ])
})

test('2.10 an account that is not metered pays nothing, whatever its balance', async (t) => {
  const gateway = await startGateway(t)
  const requestId = await submitted(gateway)
  await gateway.event('started', requestId)
  await gateway.event('measured', requestId, { duration: 1e6 })
  await gateway.event('completed', requestId)
  assert.deepEqual((await resultOf(gateway, requestId)).json().usage, {
    feature: 'audio_seconds',
    quantity: 13,
    billing_status: 'not_metered',
  })
  assert.deepEqual(await gateway.store.selectFrom('ledger').selectAll().execute(), [])
})

test('4.7 without credits a submit answers 402, and nothing is queued', async (t) => {
  const gateway = await startGateway(t)
  const { accountId, own } = await meteredAccount(gateway, 0)
  assertError(await submit(own), 'INSUFFICIENT_CREDITS')
  assertError(await submit(own, { audio_url: 'https://a.example/x.wav' }), 'INSUFFICIENT_CREDITS')
  for (const table of ['requests', 'outbox', 'ledger'] as const) {
    assert.deepEqual(await gateway.store.selectFrom(table).selectAll().execute(), [], table)
  }
  await creditAccount(gateway.deps, accountId, { seconds: 1 })
  assert.equal((await submit(own)).statusCode, 202)
})

test('4.7 no more unmeasured media is queued than the balance could pay for', async (t) => {
  const gateway = await startGateway(t)
  const { accountId, own, balance } = await meteredAccount(gateway, 3)
  const replies = await Promise.all(Array.from({ length: 8 }, () => submit(own)))
  const accepted = replies.filter(({ statusCode }) => statusCode === 202)
  assert.equal(accepted.length, 3)
  for (const reply of replies)
    if (!accepted.includes(reply)) assertError(reply, 'INSUFFICIENT_CREDITS')
  assert.deepEqual(await balance(), [3, 3])
  assertError(await submit(own, { prompts: ['a bell', 'a dog'] }), 'INSUFFICIENT_CREDITS')
  const [first, second] = accepted.map((reply) => reply.json().request_id)
  await gateway.event('measured', first, { duration: 1 })
  assert.deepEqual(await balance(), [3, 3])
  await gateway.event('measured', second, { duration: 1.5 }) // one second more than is left
  assert.equal((await statusOf(own, second)).error.code, 'INSUFFICIENT_CREDITS')
  assert.deepEqual(await balance(), [3, 2])
  assert.equal((await submit(own)).statusCode, 202)
  await assertSound(gateway.store, accountId)
})

test("4.7 a start that reports the media's length reserves the cost, or fails the request", async (t) => {
  const gateway = await startGateway(t)
  gateway.engineRegistry.announced({ engine_id: 'engine-1', control_address: '127.0.0.1:1' })
  const { accountId, own, balance } = await meteredAccount(gateway, 15)
  const [first, second] = [await submitted(own), await submitted(own)]
  await gateway.event('started', first, { duration: 12.4 })
  assert.equal((await statusOf(own, first)).status, 'IN_PROGRESS')
  assert.deepEqual(await balance(), [15, 14])
  await gateway.event('started', first, { duration: 12.4 }) // redelivered
  await gateway.event('started', second, { duration: 3 })
  assert.equal((await statusOf(own, second)).error.code, 'INSUFFICIENT_CREDITS')
  assert.deepEqual(gateway.canceled, [second], 'its engine stops')
  assert.deepEqual(await balance(), [15, 13])
  await gateway.event('completed', first)
  assert.deepEqual(await balance(), [2, 0])
  await assertSound(gateway.store, accountId)
})

test('4.7 once a file has been separated its cost is known, and reserved at submit', async (t) => {
  const gateway = await startGateway(t)
  const { accountId, own, balance } = await meteredAccount(gateway, 30)
  const file_id = await uploadFile(own)
  await complete(gateway, await submitted(own, { file_id })) // 12.5 s
  assert.deepEqual(await balance(), [17, 0])
  const second = await submitted(own, { file_id })
  assert.deepEqual(await balance(), [17, 13])
  const refused = await submit(own, { file_id })
  assertError(refused, 'INSUFFICIENT_CREDITS')
  assert.match(refused.json().error.message, /costs 13 s.*has 17 s.*13 s are reserved/)
  await gateway.event('measured', second, { duration: 14 }) // nothing new: the cost is already reserved
  assert.deepEqual(await balance(), [17, 13])
  await complete(gateway, second)
  assert.deepEqual(await balance(), [4, 0])
  await assertSound(gateway.store, accountId)
})

test('7.2 a request that the balance does not cover in the end fails, costs nothing, and is not served', async (t) => {
  for (const estimate of [null, 3.5]) {
    const gateway = await startGateway(t)
    const { accountId, own, balance } = await meteredAccount(gateway, 12)
    const requestId = await submitted(own)
    const { upload_urls: urls } = gateway.broker.jobOf(requestId)
    await gateway.call('PUT', urls.target!, { body: Buffer.from('target') })
    await gateway.event('started', requestId)
    if (estimate !== null) await gateway.event('measured', requestId, { duration: estimate })
    await gateway.event('completed', requestId)
    const { status, error } = await statusOf(own, requestId)
    assert.deepEqual([status, error.code], ['FAILED', 'INSUFFICIENT_CREDITS'])
    assertError(await resultOf(own, requestId), 'REQUEST_FAILED')
    assert.deepEqual(await balance(), [12, 0])
    await assertSound(gateway.store, accountId)
  }
})

test('extension: an account sees its balance with a key of any scope', async (t) => {
  const gateway = await startGateway(t)
  const { accountId } = await meteredAccount(gateway, 7)
  const key = await gateway.newKey(['models:read'], accountId)
  const reply = await gateway.call('GET', '/v1/account', { key })
  const { limits, ...account } = reply.json()
  assert.deepEqual(limits.media_bytes, { max: 1e12, used: 0 })
  assert.deepEqual(account, {
    account_id: accountId,
    name: 'Metered',
    status: 'active',
    priority: 'interactive',
    metered: true,
    balance_seconds: 7,
    reserved_seconds: 0,
    media_bytes: 0,
    media_reserved_bytes: 0,
    media_bytes_max: 1e12,
  })
  assertError(await gateway.call('GET', '/v1/account', { key: null }), 'UNAUTHENTICATED')
})
