/** Webhook endpoints of accounts: docs/decisions/api.md. The receivers are real. */

import assert from 'node:assert/strict'
import type { IncomingHttpHeaders } from 'node:http'
import test, { type TestContext } from 'node:test'
import { Webhook } from 'standardwebhooks'
import { deleteAccount } from '../../gateway/accounts/accounts.ts'
import { OWN_KEYS } from '../../gateway/accounts/own-keys.ts'
import {
  EndpointDeliveryList,
  NewWebhookEndpoint,
  Replay,
  WebhookEndpoint,
  WebhookEndpointList,
} from '../../gateway/api/endpoint-schemas.ts'
import { EVENT_TYPES } from '../../gateway/api/webhook-schemas.ts'
import { ENDPOINTS_MAX } from '../../gateway/requests/webhook-endpoints.ts'
import type { Keys } from '../../gateway/secrets.ts'
import { createPublicPost } from '../../gateway/webhooks/public-post.ts'
import { endDeliveries, FAILING } from '../../gateway/webhooks/endpoint-health.ts'
import { renewEndpointSecrets } from '../../gateway/webhooks/endpoint-secrets.ts'
import { assertError, assertShape } from '../support/gateway/assert-shape.ts'
import { byAnother, type Gateway, startGateway } from '../support/gateway/start-gateway.ts'
import { webhookSender } from '../support/gateway/webhook-sender.ts'
import { serve } from '../support/http/serve.ts'

const ENDPOINTS = '/v1/webhook-endpoints'
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

interface Received {
  headers: IncomingHttpHeaders
  body: string
}

/** A receiver that answers everything with `status`. */
async function startInbox(t: TestContext) {
  const inbox = { url: '', status: 204, received: [] as Received[] }
  const { url } = await serve(t, async (request, reply) => {
    const body = Buffer.concat(await request.toArray()).toString()
    inbox.received.push({ headers: request.headers, body })
    reply.writeHead(inbox.status).end()
  })
  return Object.assign(inbox, { url: `${url}/hook` })
}

/** A gateway that posts to receivers on this machine. */
async function startWithSender(t: TestContext) {
  const post = createPublicPost({ allowCidrs: ['127.0.0.0/8'] })
  const gateway = await startGateway(t, { postWebhook: post.post, checkWebhookUrl: post.check })
  const send = async (encryptionKeys = gateway.deps.config.encryptionKeys) => {
    const random = () => 0.5
    const sender = webhookSender(gateway, { post: post.post, encryptionKeys, random })
    await sender.send()
    await sender.send() // what had no slot
  }
  return { ...gateway, send }
}

async function make(gateway: Gateway, body: object) {
  const reply = await gateway.call('POST', ENDPOINTS, { body })
  assert.equal(reply.statusCode, 201, reply.body)
  assertShape(NewWebhookEndpoint, reply.json())
  const { signing_secret: secret, ...endpoint } = reply.json()
  return { secret: secret as string, endpoint, path: `${ENDPOINTS}/${endpoint.endpoint_id}` }
}

const read = async (gateway: Gateway, path: string) => (await gateway.call('GET', path)).json()

/** Tells for each secret whether it verifies a message, at the time of the message. */
const verifying = (secrets: readonly string[], received: Received) =>
  secrets.map((secret) => verifies(secret, received))

function verifies(secret: string, { headers, body }: Received): boolean {
  const { now } = Date
  Date.now = () => 1_000 * Number(headers['webhook-timestamp'])
  try {
    new Webhook(secret).verify(body, headers as Record<string, string>)
    return true
  } catch {
    return false
  } finally {
    Date.now = now
  }
}

const idsOf = (received: readonly Received[]) =>
  received.map(({ headers }) => String(headers['webhook-id']))

const eventsOf = (received: readonly Received[]) =>
  received.map(({ body }) => {
    const { type, request_id: id } = JSON.parse(body)
    return [type, id]
  })

test('extension: an endpoint gets the events that it names, beside the webhookUrl', async (t) => {
  const [gateway, all, failures, own] = await Promise.all([
    startWithSender(t),
    startInbox(t),
    startInbox(t),
    startInbox(t),
  ])
  const { endpoint, secret, path } = await make(gateway, { url: all.url, description: 'CRM' })
  assert.deepEqual(endpoint.events, EVENT_TYPES)
  assert.match(secret, /^whsec_/)
  const events = ['audio.separate.failed']
  const filtered = await make(gateway, { url: failures.url, events })
  const webhook = { webhookUrl: own.url, webhookSecret: 'a secret of the client' }
  const done = await gateway.completed({}, { ...webhook, metadata: { order: 7 } })
  const broken = await gateway.failed()
  await gateway.send()
  const end = ['audio.separate.failed', broken]
  assert.deepEqual(eventsOf(all.received).sort(), [['audio.separate.completed', done], end].sort())
  assert.deepEqual(eventsOf(failures.received), [end])
  assert.deepEqual(eventsOf(own.received), [['audio.separate.completed', done]])
  assert.ok(all.received.every((received) => verifies(secret, received)))
  assert.ok(failures.received.every((received) => verifies(filtered.secret, received)))
  const raw = new Webhook('a secret of the client', { format: 'raw' })
  const { headers, body } = own.received[0]!
  const at = new Date(1_000 * Number(headers['webhook-timestamp']))
  assert.equal(headers['webhook-signature'], raw.sign(String(headers['webhook-id']), at, body))
  const sent = all.received.find((received) => received.body.includes(done))!
  assert.equal(sent.body, body, 'the same event')
  assert.equal(new Set(idsOf([...all.received, ...failures.received, ...own.received])).size, 4)

  const { delivery_status, attempts: tries } = (await gateway.statusOf(done)).webhook
  assert.deepEqual([delivery_status, tries], ['delivered', 1])
  assert.equal((await gateway.statusOf(broken)).webhook, undefined)
  const { data: attempts } = await read(gateway, '/v1/webhook-attempts')
  assert.deepEqual(
    attempts.map((attempt: any) => attempt.endpoint_id).sort(),
    [null, endpoint.endpoint_id, endpoint.endpoint_id, filtered.endpoint.endpoint_id].sort(),
  )
  assertShape(WebhookEndpoint, await read(gateway, path))
  assert.deepEqual(await read(gateway, path), endpoint)
  const list = await read(gateway, ENDPOINTS)
  assertShape(WebhookEndpointList, list)
  assert.ok(!JSON.stringify(list).includes('whsec_'), 'secrets are shown once')
  const rows = JSON.stringify([
    await gateway.rows('webhook_endpoints'),
    await gateway.rows('changes'),
  ])
  assert.ok(rows.includes(endpoint.endpoint_id) && !rows.includes(secret.slice(6)))
})

test('extension: clients of fal get their format, their endpoints the usual one', async (t) => {
  const [gateway, inbox, own] = await Promise.all([
    startWithSender(t),
    startInbox(t),
    startInbox(t),
  ])
  await make(gateway, { url: inbox.url })
  const requestId = await gateway.submitted({}, { webhookUrl: own.url })
  await gateway.store.updateTable('requests').set({ webhook_format: 'fal' }).execute()
  await gateway.complete(requestId)
  await gateway.send()
  assert.equal(JSON.parse(own.received[0]!.body).status, 'OK')
  assert.deepEqual(eventsOf(inbox.received), [['audio.separate.completed', requestId]])
})

test('extension: after a rotation both secrets sign, for the time that the client names', async (t) => {
  const [gateway, inbox] = await Promise.all([startWithSender(t), startInbox(t)])
  const { secret: first, path } = await make(gateway, { url: inbox.url })
  const rotate = async (body?: object) => {
    const reply = await gateway.call('POST', `${path}/rotate`, { body })
    assert.equal(reply.statusCode, 200, reply.body)
    assertShape(NewWebhookEndpoint, reply.json())
    return reply.json()
  }
  const sent = async () => {
    await gateway.failed()
    await gateway.send()
    return inbox.received.at(-1)!
  }
  const { signing_secret: second, old_secret_ends_at: endsAt } = await rotate()
  assert.equal(Date.parse(endsAt), gateway.clock.now() + DAY_MS)
  const both = await sent()
  assert.deepEqual(verifying([first, second], both), [true, true])
  assert.match(String(both.headers['webhook-signature']), /^v1,\S+ v1,\S+$/)
  const tested = await gateway.call('POST', `${path}/test`)
  assert.deepEqual([tested.json().delivered, tested.json().signing_secret], [true, undefined])
  const test = inbox.received.at(-1)!
  assert.equal(JSON.parse(test.body).type, 'webhook.test')
  assert.deepEqual(verifying([first, second], test), [true, true])
  gateway.clock.advance(DAY_MS)
  const later = await sent()
  assert.deepEqual(verifying([first, second], later), [false, true])
  const { signing_secret: third } = await rotate({ overlap_seconds: 7 * 86_400 })
  const { signing_secret: fourth, old_secret_ends_at: never } = await rotate({ overlap_seconds: 0 })
  assert.equal(never, null)
  const leaked = await sent()
  const keys = [first, second, third, fourth]
  assert.deepEqual(verifying(keys, leaked), [false, false, false, true])
  for (const overlap_seconds of [-1, 7 * 86_400 + 1, 1.5]) {
    const refused = await gateway.call('POST', `${path}/rotate`, { body: { overlap_seconds } })
    assert.equal(refused.json().error.param, 'overlap_seconds', String(overlap_seconds))
  }
})

test('extension: a replay since a time sends the same ids and bodies again', async (t) => {
  const [gateway, inbox] = await Promise.all([startWithSender(t), startInbox(t)])
  const { path } = await make(gateway, { url: inbox.url })
  const other = await make(gateway, { url: inbox.url.replace('hook', 'other') })
  await gateway.call('PATCH', other.path, { body: { enabled: false } })
  const times: string[] = []
  for (let i = 0; i < 4; i += 1) {
    times.push(new Date(gateway.clock.now()).toISOString())
    inbox.status = i === 2 ? 500 : 204
    await gateway.failed()
    await gateway.send()
    gateway.clock.advance(1_000)
  }
  inbox.status = 204
  const first = inbox.received.splice(0)
  const replay = async (body: object) => {
    const reply = await gateway.call('POST', `${path}/replay`, { body })
    assert.equal(reply.statusCode, 202, reply.body)
    assertShape(Replay, reply.json())
    await gateway.send()
    assert.deepEqual(reply.json(), { replayed: inbox.received.length, next_since: null })
    return inbox.received.splice(0).map(({ headers, body }) => [headers['webhook-id'], body])
  }
  const expected = first.map(({ headers, body }) => [headers['webhook-id'], body])
  assert.deepEqual(await replay({ since: times[0], only_failed: true }), [expected[2]])
  assert.deepEqual((await replay({ since: times[1] })).sort(), expected.slice(1).sort())
  assert.deepEqual(await replay({ since: times[1], until: times[2] }), [expected[1]])
  assert.deepEqual(await replay({ since: times[0], only_failed: true }), [])
  for (let i = 4; i < OWN_KEYS.changesPerDayMax; i += 1) await replay({ since: times[3] })
  const more = await gateway.call('POST', `${path}/replay`, { body: { since: times[0] } })
  assertError(more, 'RATE_LIMITED')

  const deliveries = await read(gateway, `${path}/deliveries?limit=3`)
  assertShape(EndpointDeliveryList, deliveries)
  const rest = await read(gateway, `${path}/deliveries?cursor=${deliveries.next_cursor}`)
  const listed = [...deliveries.data, ...rest.data]
  assert.deepEqual(listed.map(({ webhook_id: id }: any) => id).reverse(), idsOf(first))
  assert.equal(rest.next_cursor, null)
  assert.deepEqual(
    listed.map((row: any) => [row.type, row.delivery_status, row.attempts, row.last_error]),
    listed.map(() => ['audio.separate.failed', 'delivered', 1, null]),
  )
  const refused = async (body: object, param: string) =>
    assertError(
      await gateway.call('POST', `${path}/replay`, { body }),
      'since' in body ? 'INVALID_PARAMETER' : 'INVALID_REQUEST',
      param,
    )
  await refused({}, 'since')
  await refused({ since: 'yesterday' }, 'since')
  await refused({ since: '2026-01-02T03:04:05Z', until: '2026-01-02T03:04:05Z' }, 'until')
  await refused({ since: '2030-01-02T03:04:05Z' }, 'since')
})

test('extension: what ends while an endpoint is disabled can be replayed later', async (t) => {
  const [gateway, inbox] = await Promise.all([startWithSender(t), startInbox(t)])
  const { path } = await make(gateway, { url: inbox.url })
  inbox.status = 500
  const before = await gateway.failed()
  await gateway.send()
  const since = new Date(gateway.clock.now()).toISOString()
  const patch = async (body: object) => {
    const reply = await gateway.call('PATCH', path, { body })
    assert.equal(reply.statusCode, 200, reply.body)
    return reply.json()
  }
  const disabled = await patch({ enabled: false })
  assertShape(WebhookEndpoint, disabled)
  assert.deepEqual([disabled.enabled, disabled.disabled_reason], [false, null])
  const meanwhile = await gateway.failed()
  gateway.clock.advance(HOUR_MS)
  await gateway.send()
  assert.equal(inbox.received.length, 1)
  const { data } = await read(gateway, `${path}/deliveries`)
  assert.deepEqual(
    data.map(({ delivery_status, last_error }: any) => [delivery_status, last_error]),
    Array(2).fill(['failed', 'The endpoint is disabled.']),
  )
  const again = { body: { since } }
  const early = await gateway.call('POST', `${path}/replay`, again)
  assertError(early, 'INVALID_PARAMETER', 'endpoint_id')
  const moved = await startInbox(t)
  const changes = { url: moved.url, events: ['audio.separate.failed'], description: 'new' }
  const enabled = await patch({ ...changes, enabled: true })
  assert.deepEqual(
    [enabled.enabled, enabled.url, enabled.events, enabled.description],
    [true, moved.url, ...[changes.events, 'new']],
  )
  assert.equal((await gateway.call('POST', `${path}/replay`, again)).json().replayed, 2)
  await gateway.send()
  const requests = eventsOf(moved.received).map(([, id]) => id)
  assert.deepEqual(requests.sort(), [before, meanwhile].sort())
})

test('extension: an endpoint that fails for days, or answers 410, is disabled', async (t) => {
  const [gateway, inbox] = await Promise.all([startWithSender(t), startInbox(t)])
  const { path } = await make(gateway, { url: inbox.url })
  const state = async () => {
    const { enabled, failing_since: since, disabled_reason: reason } = await read(gateway, path)
    return { enabled, since, reason }
  }
  inbox.status = 500
  await gateway.failed()
  await gateway.send()
  const since = new Date(gateway.clock.now()).toISOString()
  assert.deepEqual(await state(), { enabled: true, since, reason: null })
  gateway.clock.advance(FAILING.days * DAY_MS - 1)
  for (let i = 1; i < FAILING.deliveriesMin; i += 1) await gateway.failed()
  await gateway.send()
  assert.equal((await state()).enabled, true, 'not yet')
  gateway.clock.advance(DAY_MS)
  await gateway.send()
  const reason = `No attempt has succeeded since ${since}.`
  assert.deepEqual(await state(), { enabled: false, since, reason })
  const { data } = await read(gateway, `${path}/deliveries`)
  assert.ok(data.every((row: any) => row.delivery_status === 'failed'))
  const changes = await gateway.rows('changes')
  const change = changes.find(({ action }) => action === 'endpoint.disable')
  assert.deepEqual([change?.tool, JSON.parse(change!.details).reason], ['gateway', reason])

  await gateway.call('PATCH', path, { body: { enabled: true } })
  inbox.status = 204
  await gateway.failed()
  await gateway.send()
  assert.deepEqual(await state(), { enabled: true, since: null, reason: null })
  inbox.status = 410
  await gateway.failed()
  await gateway.send()
  const gone = await state()
  assert.equal(gone.enabled, false)
  assert.match(gone.reason, /returned 410/)
})

test('extension: what an old address answers says nothing about the new one', async (t) => {
  const [gateway, inbox] = await Promise.all([startWithSender(t), startInbox(t)])
  let moved: unknown
  const old = await serve(t, async (_request, reply) => {
    moved = await gateway.call('PATCH', path, { body: { url: inbox.url } })
    reply.writeHead(410).end()
  })
  const { path } = await make(gateway, { url: old.url })
  await gateway.failed()
  await gateway.send()
  assert.equal((moved as { statusCode: number }).statusCode, 200)
  assert.equal((await read(gateway, path)).enabled, true)
  gateway.clock.advance(HOUR_MS)
  await gateway.send()
  assert.equal(inbox.received.length, 1, 'tried again there')
  const { data } = await read(gateway, '/v1/webhook-attempts')
  const host = new URL(inbox.url).host
  assert.deepEqual([...new Set(data.map((attempt: any) => attempt.host))], [host])

  inbox.status = 500
  await gateway.failed()
  await gateway.send()
  assert.notEqual((await read(gateway, path)).failing_since, null)
  await gateway.call('PATCH', path, { body: { url: `${inbox.url}/new` } })
  assert.equal((await read(gateway, path)).failing_since, null)
})

test('extension: what waits for an endpoint that was enabled again is sent', async (t) => {
  const [gateway, inbox] = await Promise.all([startWithSender(t), startInbox(t)])
  const { endpoint } = await make(gateway, { url: inbox.url })
  await gateway.failed()
  await endDeliveries(gateway.store, endpoint.endpoint_id, 'late')
  await gateway.send()
  assert.equal(inbox.received.length, 1)
})

test('extension: a deleted endpoint gets nothing more, nor does one of a deleted account', async (t) => {
  const [gateway, inbox] = await Promise.all([startWithSender(t), startInbox(t)])
  const { path } = await make(gateway, { url: inbox.url })
  await gateway.failed()
  assert.equal((await gateway.call('DELETE', path)).statusCode, 204)
  for (const url of [path, `${path}/deliveries`])
    assertError(await gateway.call('GET', url), 'NOT_FOUND')
  await gateway.failed()
  await gateway.send()
  assert.deepEqual(inbox.received, [])
  const [row, ...others] = await gateway.rows('deliveries')
  assert.deepEqual([row?.state, row?.last_error], ['failed', 'The endpoint was deleted.'])
  assert.equal(others.length, 0)

  // as if a request had ended at the moment of the deletion
  await make(gateway, { url: inbox.url })
  await gateway.failed()
  await deleteAccount(gateway.deps, gateway.accountId)
  await gateway.send()
  assert.deepEqual(inbox.received, [])
  assert.ok((await gateway.rows('deliveries')).every(({ state }) => state === 'failed'))
  assert.deepEqual(await gateway.rows('webhook_endpoints'), [])
})

test('extension: endpoints are those of one account, within limits', async (t) => {
  const gateway = await startWithSender(t)
  const url = 'http://127.0.0.1:9/hook'
  const { path, endpoint } = await make(gateway, { url })
  const { call: other } = await byAnother(gateway)
  assert.deepEqual((await other('GET', ENDPOINTS)).json().data, [])
  const calls = [
    ['GET', '', undefined],
    ['PATCH', '', {}],
    ['DELETE', '', undefined],
    ['POST', '/rotate', {}],
    ['POST', '/test', undefined],
    ['GET', '/deliveries', undefined],
    ['POST', '/replay', { since: endpoint.created_at }],
  ] as const
  for (const [method, rest, body] of calls) {
    assertError(await other(method, path + rest, { body }), 'NOT_FOUND')
    const scopeless = { body, key: await gateway.newKey(['files:read']) }
    assertError(await gateway.call(method, path + rest, scopeless), 'PERMISSION_DENIED')
  }
  const refused = async (body: object, code: any, param: string) =>
    assertError(await gateway.call('POST', ENDPOINTS, { body }), code, param)
  await refused({}, 'INVALID_REQUEST', 'url')
  await refused({ url, secret: 'x' }, 'INVALID_REQUEST', 'secret')
  await refused({ url, events: [] }, 'INVALID_PARAMETER', 'events')
  await refused({ url, events: ['audio.dance'] }, 'INVALID_PARAMETER', 'events[0]')
  await refused({ url, description: 'x'.repeat(201) }, 'INVALID_PARAMETER', 'description')
  await refused({ url: 'no address' }, 'INVALID_WEBHOOK_URL', 'url')
  for (const inside of ['https://10.0.0.1/', 'http://example.com/', 'https://a:b@example.com/']) {
    const made = await gateway.call('POST', ENDPOINTS, { body: { url: inside } })
    assertError(made, 'INVALID_WEBHOOK_URL', 'url')
    assert.match(made.json().error.message, /^url must/)
    const changed = await gateway.call('PATCH', path, { body: { url: inside } })
    assertError(changed, 'INVALID_WEBHOOK_URL', 'url')
  }
  for (let i = 1; i < ENDPOINTS_MAX; i += 1) await make(gateway, { url })
  assertError(await gateway.call('POST', ENDPOINTS, { body: { url } }), 'RATE_LIMITED')
  for (let i = ENDPOINTS_MAX; i < OWN_KEYS.changesPerDayMax; i += 1)
    assert.equal((await gateway.call('POST', `${path}/rotate`)).statusCode, 200)
  assertError(await gateway.call('POST', `${path}/rotate`), 'RATE_LIMITED')
  assertError(await gateway.call('PATCH', path, { body: {} }), 'RATE_LIMITED')
  assert.equal((await gateway.call('DELETE', path)).statusCode, 204, 'always possible')
})

test('extension: an address that has become private is refused at every post', async (t) => {
  const gateway = await startWithSender(t)
  const { path } = await make(gateway, { url: 'http://127.0.0.1:9/hook' })
  await gateway.store
    .updateTable('webhook_endpoints')
    .set({ url: 'https://10.0.0.1/hook' })
    .execute()
  await gateway.failed()
  await gateway.send()
  const { data } = await read(gateway, `${path}/deliveries`)
  assert.match(data[0].last_error, /^url must lead to a public address/)
})

test('extension: secrets stay readable when the key that encrypts them is replaced', async (t) => {
  const [gateway, inbox] = await Promise.all([startWithSender(t), startInbox(t)])
  const { path, secret: first } = await make(gateway, { url: inbox.url })
  const second = (await gateway.call('POST', `${path}/rotate`)).json().signing_secret
  const [old] = gateway.deps.config.encryptionKeys
  const next = Buffer.alloc(32, 7).toString('base64url')
  for (const keys of [[old, next], [next, old], [next]] as Keys[])
    await renewEndpointSecrets(gateway.store, keys)
  await gateway.failed()
  await gateway.send([next])
  const [received] = inbox.received
  assert.deepEqual(verifying([first, second], received!), [true, true])
})
