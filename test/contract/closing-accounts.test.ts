/** Accounts that an admin disables, enables or deletes: docs/decisions/accounts.md. */

import assert from 'node:assert/strict'
import test from 'node:test'
import { sql } from 'kysely'
import {
  allKeys,
  createKey,
  creditAccount,
  deleteAccount,
  disableAccount,
  enableAccount,
  latestChanges,
  showAccount,
} from '../../gateway/accounts/accounts.ts'
import { keyIdOf, SCOPES } from '../../gateway/accounts/auth.ts'
import { Account } from '../../gateway/accounts/schemas.ts'
import { closeAccounts } from '../../gateway/requests/follow/account-closer.ts'
import { submit as submitDirectly } from '../../gateway/requests/submit/submit.ts'
import { insertRequest } from '../../gateway/store/requests.ts'
import { assertError, assertShape } from '../support/gateway/assert-shape.ts'
import { assertMediaSums } from '../support/gateway/media-sums.ts'
import { meteredAccount } from '../support/gateway/metered.ts'
import { assertRefused, startSeparationClient } from '../support/clients/separation-client.ts'
import { ADMIN, admin, type Method } from '../support/gateway/admin.ts'
import { exchange, listModels, newCode, openSession } from '../support/gateway/page-session.ts'
import { API, type Gateway, startGateway } from '../support/gateway/start-gateway.ts'
import { leftRows, onDisk } from '../support/gateway/stored.ts'
import { webhookSender } from '../support/gateway/webhook-sender.ts'

/** As gateways do it, until nothing is left to do. */
async function closeAll({ deps }: Gateway): Promise<void> {
  while ((await closeAccounts(deps)) > 0);
}

test('extension: the keys of a disabled account are refused by name, and work again once enabled', async (t) => {
  const gateway = await startGateway(t)
  const { accountId } = gateway
  const grpc = await startSeparationClient(t, gateway)
  const list = () => grpc.call('List', {})
  const other = await gateway.newKey()
  const session = await openSession(gateway)
  const code = await newCode(gateway)
  assert.equal((await disableAccount(gateway.deps, accountId)).status, 'disabled')
  for (const [method, url] of [
    ['GET', '/v1/models'],
    ['GET', '/v1/account'],
    ['POST', '/v1/files'],
    ['GET', `${API}/requests`],
  ] as const) {
    assertError(await gateway.call(method, url), 'ACCOUNT_DISABLED')
  }
  await assertRefused(list(), 'PERMISSION_DENIED', 'ACCOUNT_DISABLED')
  const scoped = await createKey(gateway.deps, { account_id: accountId, scopes: ['models:read'] })
  assertError(await gateway.call('GET', '/v1/models', { key: scoped.key }), 'ACCOUNT_DISABLED')
  const wrong = `sep_${keyIdOf(gateway.key)}_${'0'.repeat(64)}`
  assertError(await gateway.call('GET', '/v1/models', { key: wrong }), 'UNAUTHENTICATED')
  assert.equal((await gateway.call('GET', '/v1/models', { key: other })).statusCode, 200)

  assert.equal((await enableAccount(gateway.deps, accountId)).status, 'active')
  assert.equal((await gateway.call('GET', '/v1/models')).statusCode, 200)
  await list()
  assertError(await listModels(gateway, session), 'UNAUTHENTICATED')
  assertError(await exchange(gateway, code), 'UNAUTHENTICATED')

  const begun = await openSession(gateway) // as the account is disabled
  assert.equal((await listModels(gateway, begun)).statusCode, 200)
  await gateway.store.updateTable('accounts').set({ disabled_at: 'now' }).execute()
  assertError(await listModels(gateway, begun), 'UNAUTHENTICATED')
})

test('extension: requests of a disabled account are canceled and cost nothing; all else stays', async (t) => {
  const gateway = await startGateway(t)
  gateway.engineRegistry.announced({ engine_id: 'engine-1', control_address: '127.0.0.1:1' })
  const { accountId, own, balance } = await meteredAccount(gateway, 60)
  const done = await own.completed()
  const waiting = await own.submitted({}, { webhookUrl: 'https://hooks.test/x' })
  const underWay = await own.submitted()
  await gateway.event('started', underWay)
  const others = await gateway.submitted()
  const before = await onDisk(gateway)

  await disableAccount(gateway.deps, accountId)
  await closeAll(gateway)
  assert.throws(() => gateway.broker.jobOf(waiting))
  assert.deepEqual(gateway.canceled, [underWay])
  assert.equal((await gateway.statusOf(others)).status, 'IN_QUEUE')
  assert.deepEqual(await balance(), [47, 0])
  assert.deepEqual(await onDisk(gateway), before)
  const posts: string[] = []
  const post = async (_url: string, { body }: { body: Buffer }) => {
    posts.push(body.toString())
    return { status: 200, retryAfter: undefined }
  }
  await webhookSender(gateway, { post }).send()
  assert.equal(posts.length, 1, 'its webhook is sent')
  assert.match(posts[0]!, /CANCELED/)

  await enableAccount(gateway.deps, accountId)
  await closeAll(gateway)
  for (const requestId of [waiting, underWay]) {
    const { status, error } = await own.statusOf(requestId)
    assert.deepEqual([status, error.code], ['FAILED', 'CANCELED'])
    assert.equal(error.message, 'An admin has disabled the account.')
  }
  const result = await own.getResult(done)
  assert.equal((await gateway.call('GET', result.json().data.target.url)).statusCode, 200)
})

test('extension: a submit under way as its account is disabled is canceled later', async (t) => {
  const gateway = await startGateway(t)
  const { accountId } = gateway
  const fileId = await gateway.uploadFile()
  await disableAccount(gateway.deps, accountId)
  await closeAll(gateway)
  const body = { input: { prompt: 'a bell', file_id: fileId } }
  const caller = { account_id: accountId, own_priority: null } // its key was checked before
  await submitDirectly(gateway.deps, caller, { body })
  await closeAll(gateway)
  const rows = await gateway.rows('requests')
  assert.deepEqual(
    rows.map(({ status }) => status),
    ['FAILED'],
  )
})

test('extension: a deleted account leaves its ledger, use by day and changes, and nothing else', async (t) => {
  const gateway = await startGateway(t)
  const { accountId, own } = await meteredAccount(gateway, 60)
  const paid = await own.completed({}, { webhookUrl: 'https://hooks.test/x' })
  await own.submitted({ request_id: paid, output: 'residual' })
  await own.submitted()
  await own.createFile()
  const { key, key_id: keyId } = await createKey(gateway.deps, {
    account_id: accountId,
    scopes: SCOPES,
  })
  const session = await openSession(gateway, key)
  const deducted = async () =>
    (await gateway.rows('ledger')).filter(({ kind }) => kind === 'deduct')
  const paidBefore = await deducted()

  gateway.clock.advance(1)
  const deleted = await deleteAccount(gateway.deps, accountId)
  assertShape(Account, deleted)
  assert.deepEqual([deleted.name, deleted.status], ['', 'deleted'])
  assertError(await gateway.call('GET', '/v1/models', { key }), 'UNAUTHENTICATED')
  assertError(await own.call('GET', '/v1/models'), 'UNAUTHENTICATED')
  assertError(await listModels(gateway, session), 'UNAUTHENTICATED')
  await closeAll(gateway)
  assert.deepEqual(await onDisk(gateway), [])
  assert.deepEqual(await leftRows(gateway), [])
  assert.deepEqual(await gateway.rows('page_sessions'), [])
  assert.deepEqual((await allKeys(gateway.deps, accountId)).data, [])

  assert.deepEqual(await deducted(), paidBefore)
  const [day] = await gateway.rows('usage_days')
  assert.deepEqual([day?.account_id, day?.completed, day?.failed], [accountId, 1, 2])
  const left = await showAccount(gateway.deps, accountId)
  assert.deepEqual([left.balance_seconds, left.reserved_seconds, left.media_bytes], [47, 0, 0])
  const { data: changes } = await latestChanges(gateway.deps, { accountId, limit: 10 })
  assert.equal(changes[0]?.action, 'account.delete')
  const { keys } = JSON.parse(changes[0]!.details)
  assert.ok(keys.includes(keyId), 'the record knows whose key it was')
  assert.ok(changes.some(({ action }) => action === 'account.create'))
})

test('extension: nothing is done with a deleted account, and the first one is not deleted', async (t) => {
  const gateway = await startGateway(t)
  const { accountId } = await meteredAccount(gateway, 0)
  await deleteAccount(gateway.deps, accountId)
  const refusals = [
    () => disableAccount(gateway.deps, accountId),
    () => enableAccount(gateway.deps, accountId),
    () => deleteAccount(gateway.deps, accountId),
    () => creditAccount(gateway.deps, accountId, { seconds: 1 }),
    () => disableAccount(gateway.deps, 'acct_unknown'),
  ]
  for (const refused of refusals) await assert.rejects(refused, { code: 'NOT_FOUND' })
  const wrong = { code: 'INVALID_PARAMETER', param: 'account_id' }
  const body = { account_id: accountId, scopes: ['models:read'] }
  await assert.rejects(createKey(gateway.deps, body), wrong)
  await createKey(gateway.deps, { scopes: ['models:read'] })
  await assert.rejects(deleteAccount(gateway.deps, 'default'), wrong)
  assert.equal((await disableAccount(gateway.deps, 'default')).status, 'disabled')
})

test('extension: so many rows are closed in one turn, and the turns after it take the rest', async (t) => {
  const gateway = await startGateway(t)
  const { accountId } = gateway
  const requestId = await gateway.submitted()
  const [row] = await gateway.rows('requests')
  for (let i = 0; i < 120; i++) {
    await insertRequest(gateway.store, { ...row!, request_id: `${requestId}_${i}` })
  }
  await disableAccount(gateway.deps, accountId)
  assert.equal(await closeAccounts(gateway.deps), 100)
  assert.equal(await closeAccounts(gateway.deps), 21)
  assert.equal(await closeAccounts(gateway.deps), 0)
  await deleteAccount(gateway.deps, accountId)
  await assertMediaSums(gateway.store)
  assert.equal(await closeAccounts(gateway.deps), 101, '100 requests and a file')
  await assertMediaSums(gateway.store)
  assert.equal(await closeAccounts(gateway.deps), 21)
  assert.equal(await closeAccounts(gateway.deps), 0)
  assert.deepEqual(await leftRows(gateway), [])
})

test('extension: the admin API closes accounts, each change once on record', async (t) => {
  const gateway = await startGateway(t, ADMIN)
  const call = async (method: Method, path: string) => {
    gateway.clock.advance(1)
    return admin(gateway, method, `accounts/${path}`)
  }
  const { accountId } = await meteredAccount(gateway, 0)
  const states: [Parameters<typeof call>, Account['status']][] = [
    [['POST', `${accountId}/disable`], 'disabled'],
    [['POST', `${accountId}/disable`], 'disabled'],
    [['GET', accountId], 'disabled'],
    [['POST', `${accountId}/enable`], 'active'],
    [['POST', `${accountId}/enable`], 'active'],
    [['DELETE', accountId], 'deleted'],
    [['GET', accountId], 'deleted'],
  ]
  for (const [asked, status] of states) {
    const reply = await call(...asked)
    assert.equal(reply.statusCode, 200, reply.body)
    assertShape(Account, reply.json())
    assert.equal(reply.json().status, status)
  }
  assertError(await call('DELETE', accountId), 'NOT_FOUND')
  assertError(await call('DELETE', 'default'), 'NOT_FOUND')
  const { data } = await latestChanges(gateway.deps, { accountId, limit: 10 })
  assert.deepEqual(
    data.map(({ action }) => action),
    ['account.delete', 'account.enable', 'account.disable', 'account.create'],
  )
})

test('extension: a gateway of before, which names no such columns, still makes accounts', async (t) => {
  const gateway = await startGateway(t)
  await sql`insert into accounts
    (account_id, name, created_at, metered, balance_seconds, reserved_seconds,
      media_held_bytes, media_reserved_bytes)
    values ('acct_old', 'Old', '2026-01-01T00:00:00.000Z', 0, 0, 0, 0, 0)`.execute(gateway.store)
  assert.equal((await showAccount(gateway.deps, 'acct_old')).status, 'active')
})
