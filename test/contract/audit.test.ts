/** Who called, and who changed accounts and keys: docs/decisions/accounts.md. */

import assert from 'node:assert/strict'
import { EventEmitter, once } from 'node:events'
import test from 'node:test'
import { createKey, rotateKey } from '../../gateway/accounts/accounts.ts'
import { keyIdOf } from '../../gateway/accounts/auth.ts'
import { createMetricsText } from '../../gateway/operations/state-metrics.ts'
import { isoTime } from '../../shared/clock.ts'
import { journalFields } from '../../shared/process/journal.ts'
import { startSeparationClient } from '../support/clients/separation-client.ts'
import { loseTable } from '../support/database/test-database.ts'
import { ADMIN, ADMIN_TOKEN, admin } from '../support/gateway/admin.ts'
import { listModels, openSession } from '../support/gateway/page-session.ts'
import { API, type Gateway, startGateway } from '../support/gateway/start-gateway.ts'

const answered = (gateway: Gateway) =>
  gateway.logged('info').filter(({ msg }) => msg === 'answered a call')

test('extension: the line of each call has account, key and address, also of a refused one', async (t) => {
  const gateway = await startGateway(t)
  const { accountId } = gateway
  const keyId = keyIdOf(gateway.key)
  await gateway.call('GET', '/v1/models', { headers: { 'x-request-id': 'req_of-the-client' } })
  const line = answered(gateway).at(-1)!
  const { level: _level, time: _time, pid: _pid, hostname: _hostname, ms: _ms, ...said } = line
  assert.deepEqual(said, {
    callId: 'req_of-the-client',
    method: 'GET',
    path: '/v1/models',
    status: 200,
    accountId,
    keyId,
    client: '127.0.0.1',
    msg: 'answered a call',
  })
  assert.equal('requestId' in line, false, 'a client does not name a request of the queue')
  const fields = journalFields(JSON.stringify(line))
  assert.ok(fields.includes('WINNOW_CALL_ID=req_of-the-client'))
  assert.ok(!fields.some((field) => field.startsWith('WINNOW_REQUEST_ID')))

  const key = await gateway.newKey(['files:read'])
  await gateway.call('GET', '/v1/models', { key })
  await gateway.call('GET', '/v1/models', { key: null })
  assert.deepEqual(
    answered(gateway)
      .slice(-2)
      .map(({ status, keyId }) => [status, keyId]),
    [
      [403, keyIdOf(key)],
      [401, undefined],
    ],
  )
})

test('extension: the line and the count of a call whose client hangs up', async (t) => {
  const heldUp = new EventEmitter()
  const gateway = await startGateway(t, {
    checkAudioUrl: async (_url, { signal }) => {
      heldUp.emit('call')
      await once(signal!, 'abort')
      signal!.throwIfAborted()
    },
  })
  const requestId = await gateway.submitted()
  const address = await gateway.listen()
  const authorization = `Bearer ${gateway.key}`
  const waiting = new AbortController()
  const submitPath = `${API}/audio/separate`
  const call = fetch(address + submitPath, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json' },
    body: JSON.stringify({ input: { prompt: 'x', audio_url: 'https://example.com/a' } }),
    signal: waiting.signal,
  })
  await once(heldUp, 'call')
  waiting.abort()
  await assert.rejects(call)
  const path = `${API}/requests/${requestId}/status/stream`
  const following = new AbortController()
  const stream = await fetch(address + path, {
    headers: { authorization },
    signal: following.signal,
  })
  await stream.body!.getReader().read()
  following.abort()

  for (const [wanted, status] of [
    [submitPath, 499],
    [path, 200],
  ] as const) {
    const { msg, keyId, client, ...line } = await hungUpLine(gateway, wanted)
    assert.deepEqual([msg, line.status], ['the client hung up', status])
    assert.deepEqual([keyId, client], [keyIdOf(gateway.key), '127.0.0.1'])
  }
  const metrics = await createMetricsText(gateway.deps)()
  assert.match(
    metrics,
    /request_seconds_count\{method="POST",route="\/v1\/queue\/audio\/separate",status="499"\} 1\n/,
  )
  await gateway.app.close()
  const lines = gateway.logged('info').filter(({ path }) => path === submitPath)
  assert.equal(lines.length, 2, 'that of the first submit and one of the second')
})

/** The line of the call to `path` whose client hung up, once it is there. */
async function hungUpLine(gateway: Gateway, path: string): Promise<Record<string, any>> {
  for (;;) {
    const line = gateway
      .logged('info')
      .find((each) => each.path === path && each.msg !== 'answered a call' && each.method)
    if (line) return line
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

test('extension: the address of a client is believed of trusted proxies alone', async (t) => {
  const trusting = await startGateway(t, { config: { trustedProxies: ['127.0.0.0/8', '::1/128'] } })
  const wary = await startGateway(t, { config: { trustedProxies: ['10.0.0.0/8'] } })
  const clientOf = async (gateway: Gateway, forwardedFor: string) => {
    await gateway.call('GET', '/healthz', { headers: { 'x-forwarded-for': forwardedFor } })
    return answered(gateway).at(-1)?.client
  }
  assert.equal(await clientOf(wary, '203.0.113.7'), '127.0.0.1')
  assert.equal(await clientOf(trusting, '203.0.113.7'), '203.0.113.7')
  assert.equal(await clientOf(trusting, 'forged, 203.0.113.7'), '203.0.113.7')
  assert.equal(await clientOf(trusting, '198.51.100.1, 203.0.113.7, 127.0.0.9'), '203.0.113.7')
  assert.equal(await clientOf(trusting, '2001:db8::1'), '2001:db8::1')
  assert.equal(await clientOf(trusting, 'not an address'), '127.0.0.1')
  const { call } = await startSeparationClient(t, trusting)
  const forwarded = { metadata: { 'x-forwarded-for': 'forged, 203.0.113.8', 'x-request-id': 'g' } }
  await call('List', {}, forwarded)
  const { callId, client, keyId } = answered(trusting).at(-1)!
  assert.deepEqual([callId, client, keyId], ['g', '203.0.113.8', keyIdOf(trusting.key)])
})

test('extension: when a key was used last is stored once a minute, of calls and of sessions', async (t) => {
  const gateway = await startGateway(t, ADMIN)
  const lastUse = async () =>
    (await admin(gateway, 'GET', 'keys')).json().data[0].last_used_at as string | null
  assert.equal(await lastUse(), null)
  const usedAt = isoTime(gateway.clock.now())
  await gateway.call('GET', '/v1/models')
  gateway.clock.advance(1_000)
  assert.equal(await lastUse(), null, 'a call writes nothing itself')
  await gateway.deps.keyUses.write()
  assert.equal(await lastUse(), usedAt)
  const session = await openSession(gateway)
  await gateway.deps.keyUses.write()
  gateway.clock.advance(1_000)
  await listModels(gateway, session)
  await gateway.store.schema.alterTable('api_keys').renameTo('elsewhere').execute()
  await assert.rejects(gateway.deps.keyUses.write())
  const elsewhere = gateway.store.schema.alterTable('elsewhere')
  await elsewhere.renameTo('api_keys').execute()
  await gateway.deps.keyUses.write() // also what could not be stored
  assert.equal(await lastUse(), isoTime(gateway.clock.now()))
  gateway.clock.advance(-60_000)
  await gateway.call('GET', '/v1/models')
  await gateway.deps.keyUses.write()
  assert.equal(await lastUse(), isoTime(gateway.clock.now() + 60_000), 'a later use stays')
})

const changesOf = ({ store }: Gateway) =>
  store
    .selectFrom('changes')
    .select(['tool', 'origin', 'action', 'account_id', 'key_id', 'details'])
    .orderBy('created_at')
    .execute()

test('extension: each change of the admin API is recorded once, with who made it and no secret', async (t) => {
  const gateway = await startGateway(t, {
    config: { adminToken: ADMIN_TOKEN, trustedProxies: ['127.0.0.1/32'] },
  })
  const post = async (path: string, payload: object = {}) => {
    gateway.clock.advance(1)
    const headers = { authorization: `Bearer ${ADMIN_TOKEN}`, 'x-forwarded-for': '203.0.113.7' }
    const reply = await gateway.app.inject({
      method: 'POST',
      url: `/admin/${path}`,
      headers,
      payload,
    })
    return reply.json()
  }
  const { account_id } = await post('accounts', { name: 'Studio', metered: true })
  const credit = { seconds: 60, reference: 'invoice 1' }
  for (const _ of [1, 2]) await post(`accounts/${account_id}/credit`, credit)
  await post(`accounts/${account_id}/credit`, { seconds: -61 }) // refused
  const made = await post('keys', { account_id, scopes: ['models:read'], name: 'CI' })
  const { key_id } = made
  const rotated = await post(`keys/${key_id}/rotate`)
  for (const _ of [1, 2]) await post(`keys/${key_id}/revoke`)
  await post(`keys/${key_id}/rotate`) // refused
  const common = { tool: 'admin_api', origin: '203.0.113.7', account_id }
  const details = { name: 'CI', scopes: ['models:read'], expires_at: null }
  assert.deepEqual(
    (await changesOf(gateway)).map((row) => ({ ...row, details: JSON.parse(row.details) })),
    [
      {
        ...common,
        action: 'account.create',
        key_id: null,
        details: { name: 'Studio', metered: true },
      },
      { ...common, action: 'account.credit', key_id: null, details: credit },
      { ...common, action: 'key.create', key_id, details },
      { ...common, action: 'key.rotate', key_id, details: {} },
      { ...common, action: 'key.revoke', key_id, details: {} },
    ],
  )
  const text = JSON.stringify(await changesOf(gateway))
  for (const { key } of [made, rotated]) assert.equal(text.includes(key.split('_')[2]), false)
  assert.equal(text.includes(ADMIN_TOKEN), false)
})

test('extension: a change that fails is not recorded, and none is made without its record', async (t) => {
  const gateway = await startGateway(t)
  const { key_id: keyId } = await createKey(gateway.deps, { scopes: ['models:read'] })
  const before = await gateway.rows('api_keys')
  await loseTable(gateway.store, 'changes')
  await assert.rejects(rotateKey(gateway.deps, keyId))
  assert.deepEqual(await gateway.rows('api_keys'), before)
})

test('extension: the database refuses to alter the record of changes', async (t) => {
  const gateway = await startGateway(t)
  await createKey(gateway.deps, { scopes: ['models:read'] })
  const refusal = /the record of changes is only added to/
  const { store } = gateway
  await assert.rejects(store.updateTable('changes').set({ origin: 'me' }).execute(), refusal)
  await assert.rejects(store.deleteFrom('changes').execute(), refusal)
  assert.equal((await changesOf(gateway)).length, 1)
})
