/** Accounts that an operator disables, enables or deletes: docs/decisions/accounts.md. */

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
import { WebhookSender } from '../../gateway/webhooks/sender.ts'
import { assertError, assertShape } from '../support/gateway/assert-shape.ts'
import { assertMediaSums } from '../support/gateway/media-sums.ts'
import { meteredAccount } from '../support/gateway/metered.ts'
import { startSeparationClient } from '../support/clients/separation-client.ts'
import {
  API,
  complete,
  createFileBody,
  startGateway,
  submitted,
  uploadFile,
  type Gateway,
} from '../support/gateway/start-gateway.ts'
import { leftRows, onDisk } from '../support/gateway/stored.ts'

const TOKEN = 'the-admin-token-of-this-test'

const accountOf = async (gateway: Pick<Gateway, 'call'>): Promise<string> =>
  (await gateway.call('GET', '/v1/account')).json().account_id

const statusOf = (gateway: Pick<Gateway, 'call'>, requestId: string) =>
  gateway.call('GET', `${API}/requests/${requestId}/status`)

/** As gateways do it, until nothing is left to do. */
async function closeAll({ deps }: Gateway): Promise<void> {
  while ((await closeAccounts(deps)) > 0);
}

/** Opens a session of the page; answers what calls with it give. */
async function openSession(gateway: Gateway) {
  const authorization = `Bearer ${gateway.key}`
  const made = await gateway.call('POST', '/playground/codes', { headers: { authorization } })
  const { code } = made.json()
  const opened = await gateway.call('POST', '/playground/sessions', { body: { code } })
  assert.equal(opened.statusCode, 201)
  const cookie = String(opened.headers['set-cookie']).split(';')[0]!
  return () => gateway.call('GET', '/playground/v1/models', { headers: { cookie } })
}

const newCode = async (gateway: Gateway): Promise<string> => {
  const headers = { authorization: `Bearer ${gateway.key}` }
  return (await gateway.call('POST', '/playground/codes', { headers })).json().code
}

test('extension: the keys of a disabled account are refused by name, and work again once enabled', async (t) => {
  const gateway = await startGateway(t)
  const accountId = await accountOf(gateway)
  const grpc = await startSeparationClient(t, gateway)
  const listed = () =>
    grpc.call('List', {}).then(
      () => 'OK',
      (error) => error.metadata.get('winnow-code')[0],
    )
  const other = await gateway.newKey()
  const inSession = await openSession(gateway)
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
  assert.equal(await listed(), 'ACCOUNT_DISABLED')
  const scoped = await createKey(gateway.deps, { account_id: accountId, scopes: ['models:read'] })
  assertError(await gateway.call('GET', '/v1/models', { key: scoped.key }), 'ACCOUNT_DISABLED')
  const wrong = `sep_${keyIdOf(gateway.key)}_${'0'.repeat(64)}`
  assertError(await gateway.call('GET', '/v1/models', { key: wrong }), 'UNAUTHENTICATED')
  assert.equal((await gateway.call('GET', '/v1/models', { key: other })).statusCode, 200)

  assert.equal((await enableAccount(gateway.deps, accountId)).status, 'active')
  assert.equal((await gateway.call('GET', '/v1/models')).statusCode, 200)
  assert.equal(await listed(), 'OK')
  assertError(await inSession(), 'UNAUTHENTICATED')
  const late = await gateway.call('POST', '/playground/sessions', { body: { code } })
  assertError(late, 'UNAUTHENTICATED')
})

test('extension: a session that begins as its account is disabled opens nothing', async (t) => {
  const gateway = await startGateway(t)
  const accountId = await accountOf(gateway)
  const inSession = await openSession(gateway)
  assert.equal((await inSession()).statusCode, 200)
  await gateway.store
    .updateTable('accounts')
    .set({ disabled_at: 'now' })
    .where('account_id', '=', accountId)
    .execute()
  assertError(await inSession(), 'UNAUTHENTICATED')
})

test('extension: requests of a disabled account are canceled and cost nothing; all else stays', async (t) => {
  const gateway = await startGateway(t)
  gateway.engineRegistry.announced({ engine_id: 'engine-1', control_address: '127.0.0.1:1' })
  const { accountId, own, balance } = await meteredAccount(gateway, 60)
  const done = await submitted(own)
  await complete(gateway, done)
  const waiting = await submitted(own, {}, { webhookUrl: 'https://hooks.test/x' })
  const underWay = await submitted(own)
  await gateway.event('started', underWay)
  const others = await submitted(gateway)
  const before = await onDisk(gateway)

  await disableAccount(gateway.deps, accountId)
  await closeAll(gateway)
  assert.throws(() => gateway.broker.jobOf(waiting))
  assert.deepEqual(gateway.canceled, [underWay])
  assert.equal((await statusOf(gateway, others)).json().status, 'IN_QUEUE')
  assert.deepEqual(await balance(), [47, 0])
  assert.deepEqual(await onDisk(gateway), before)
  const posts: string[] = []
  const sender = new WebhookSender({
    ...gateway.deps,
    encryptionKeys: gateway.deps.config.encryptionKeys,
    attemptsMax: 4,
    hostAttemptsMax: 4,
    post: async (_url, { body }) => {
      posts.push(body.toString())
      return { status: 200, retryAfter: undefined }
    },
  })
  await sender.startDue()
  await sender.idle()
  assert.equal(posts.length, 1, 'its webhook is sent')
  assert.match(posts[0]!, /CANCELED/)

  await enableAccount(gateway.deps, accountId)
  await closeAll(gateway)
  for (const requestId of [waiting, underWay]) {
    const { status, error } = (await statusOf(own, requestId)).json()
    assert.deepEqual([status, error.code], ['FAILED', 'CANCELED'])
    assert.equal(error.message, 'An operator has disabled the account.')
  }
  const result = await own.call('GET', `${API}/requests/${done}/result`)
  assert.equal((await gateway.call('GET', result.json().data.target.url)).statusCode, 200)
})

test('extension: a submit under way as its account is disabled is canceled later', async (t) => {
  const gateway = await startGateway(t)
  const accountId = await accountOf(gateway)
  const fileId = await uploadFile(gateway)
  await disableAccount(gateway.deps, accountId)
  await closeAll(gateway)
  const body = { input: { prompt: 'a bell', file_id: fileId } }
  const caller = { account_id: accountId, own_priority: null } // its key was checked before
  await submitDirectly(gateway.deps, caller, { body })
  await closeAll(gateway)
  const rows = await gateway.store.selectFrom('requests').select('status').execute()
  assert.deepEqual(rows, [{ status: 'FAILED' }])
})

test('extension: a deleted account leaves its ledger, use by day and changes, and nothing else', async (t) => {
  const gateway = await startGateway(t)
  const { accountId, own } = await meteredAccount(gateway, 60)
  const paid = await submitted(own, {}, { webhookUrl: 'https://hooks.test/x' })
  await complete(gateway, paid)
  const chained = { prompt: 'a bell', request_id: paid, output: 'residual' }
  const reply = await own.call('POST', `${API}/audio/separate`, { body: { input: chained } })
  assert.equal(reply.statusCode, 202)
  await submitted(own)
  await own.call('POST', '/v1/files', { body: createFileBody() })
  const { key, key_id: keyId } = await createKey(gateway.deps, {
    account_id: accountId,
    scopes: SCOPES,
  })
  const inSession = await openSession({ ...gateway, key })
  const deducted = () =>
    gateway.store.selectFrom('ledger').selectAll().where('kind', '=', 'deduct').execute()
  const paidBefore = await deducted()

  gateway.clock.advance(1)
  const deleted = await deleteAccount(gateway.deps, accountId)
  assertShape(Account, deleted)
  assert.deepEqual([deleted.name, deleted.status], ['', 'deleted'])
  assertError(await gateway.call('GET', '/v1/models', { key }), 'UNAUTHENTICATED')
  assertError(await own.call('GET', '/v1/models'), 'UNAUTHENTICATED')
  assertError(await inSession(), 'UNAUTHENTICATED')
  await closeAll(gateway)
  assert.deepEqual(await onDisk(gateway), [])
  assert.deepEqual(await leftRows(gateway), [])
  assert.deepEqual(await gateway.store.selectFrom('page_sessions').selectAll().execute(), [])
  assert.deepEqual((await allKeys(gateway.deps, accountId)).data, [])

  assert.deepEqual(await deducted(), paidBefore)
  const [day] = await gateway.store.selectFrom('usage_days').selectAll().execute()
  assert.deepEqual([day?.account_id, day?.completed, day?.failed], [accountId, 1, 2])
  const { balance_seconds, reserved_seconds, media_bytes } = await showAccount(
    gateway.deps,
    accountId,
  )
  assert.deepEqual([balance_seconds, reserved_seconds, media_bytes], [47, 0, 0])
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
  const accountId = await accountOf(gateway)
  const requestId = await submitted(gateway)
  const row = await gateway.store.selectFrom('requests').selectAll().executeTakeFirstOrThrow()
  for (let i = 0; i < 120; i++) {
    await insertRequest(gateway.store, { ...row, request_id: `${requestId}_${i}` })
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
  const gateway = await startGateway(t, { config: { adminToken: TOKEN } })
  const call = async (method: 'DELETE' | 'GET' | 'POST', path: string) => {
    gateway.clock.advance(1)
    const headers = { authorization: `Bearer ${TOKEN}` }
    return gateway.app.inject({ method, url: `/admin/accounts/${path}`, headers })
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
