import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request, type IncomingMessage } from 'node:http'
import test, { type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { KyselyPlugin } from 'kysely'
import { QueueStatusResponse, StreamTimeout } from '../../gateway/api/schemas.ts'
import { assertError, assertShape } from '../support/gateway/assert-shape.ts'
import { readEvents, type StreamEvent } from '../support/http/event-stream.ts'
import {
  API,
  type Gateway,
  type GatewayOptions,
  startGateway,
} from '../support/gateway/start-gateway.ts'
import { loseTable } from '../support/database/test-database.ts'

/** Starts a gateway that listens; queues a request and opens its stream. */
async function openStream(t: TestContext, query = '', options: GatewayOptions = {}) {
  const gateway = await startGateway(t, options)
  const requestId = await gateway.submitted()
  const address = await gateway.listen()
  const call = request(`${address}${API}/requests/${requestId}/status/stream${query}`, {
    headers: { authorization: `Bearer ${gateway.key}` },
  })
  call.on('error', () => {}) // a client that leaves causes one
  const [reply] = (await once(call.end(), 'response')) as [IncomingMessage]
  return { gateway, requestId, reply, events: readEvents(reply), leave: () => call.destroy() }
}

async function next(events: AsyncGenerator<StreamEvent>): Promise<StreamEvent> {
  const { value, done } = await events.next()
  assert.ok(!done, 'the stream has ended')
  return value
}

const report = (gateway: Gateway, requestId: string, progress: number) =>
  gateway.feed.progressed({
    request_id: requestId,
    attempt_id: 'attempt-1',
    at: '2026-01-02T03:04:05.000Z',
    progress,
  })

test('4.5 the stream sends every change and ends after a terminal status', async (t) => {
  const { gateway, requestId, reply, events } = await openStream(t, '?interval=10')
  assert.equal(reply.statusCode, 200)
  assert.equal(reply.headers['content-type'], 'text/event-stream')
  assert.equal(reply.headers['cache-control'], 'no-store')
  assert.equal(reply.headers['x-accel-buffering'], 'no')
  assert.ok(reply.headers['x-request-id'])
  const first = await next(events)
  assert.equal(first.name, 'status')
  assertShape(QueueStatusResponse, first.data)
  assert.equal(first.data.status, 'IN_QUEUE')
  assert.equal(first.data.queue_position, 1)
  assert.ok(!('logs' in first.data))
  await gateway.event('started', requestId)
  assert.equal((await next(events)).data.status, 'IN_PROGRESS')
  report(gateway, requestId, 0.5)
  assert.equal((await next(events)).data.progress, 0.5)
  await gateway.event('completed', requestId)
  const last = await next(events)
  assertShape(QueueStatusResponse, last.data)
  assert.equal(last.data.status, 'COMPLETED')
  assert.equal((await events.next()).done, true)
})

test('4.5 the stream of a finished request is a comment and one event', async (t) => {
  const gateway = await startGateway(t)
  const requestId = await gateway.completed()
  const reply = await gateway.call('GET', `${API}/requests/${requestId}/status/stream`)
  assert.match(reply.body, /^: open\n\nevent: status\ndata: .*"COMPLETED".*\n\n$/)
})

test('4.3 the stream includes logs on request', async (t) => {
  const { gateway, requestId, events } = await openStream(t, '?logs=true')
  assert.deepEqual((await next(events)).data.logs, [])
  const line = { timestamp: '2026-01-02T03:04:05.000Z', message: 'hello' }
  await gateway.event('failed', requestId, { logs: [line] })
  await gateway.event('started', requestId, { logs: [line] })
  assert.deepEqual((await next(events)).data.logs, [line])
})

test('4.4 the status is repeated every interval without querying the database', async (t) => {
  const startedAt = performance.now()
  const { gateway, events } = await openStream(t, '?interval=0.001') // clamped to 1
  const first = await next(events)
  await loseTable(gateway.store, 'requests') // makes any query fail from now on
  assert.deepEqual(await next(events), first)
  assert.ok(performance.now() - startedAt > 900)
})

test('6.2 the stream ends with a timeout event when its window ends', async (t) => {
  const config = { streamWindowSeconds: 0.05 }
  const { requestId, events } = await openStream(t, '', { config })
  await next(events)
  const { name, data } = await next(events)
  assert.equal(name, 'timeout')
  assertShape(StreamTimeout, data)
  assert.equal(data.request_id, requestId)
  assert.equal(data.status, 'IN_QUEUE')
  assert.equal((await events.next()).done, true)
})

test('6.2 a failure after the stream has begun is an error event', async (t) => {
  const { gateway, requestId, events } = await openStream(t)
  await next(events)
  await loseTable(gateway.store, 'requests')
  gateway.feed.rowChanged(requestId)
  const { name, data } = await next(events)
  assert.equal(name, 'error')
  assert.deepEqual(data.error, {
    code: 'INTERNAL',
    message: 'The service failed; retry, and give an admin the x-request-id.',
    request_id: requestId,
  })
  assert.equal((await events.next()).done, true)
})

/** Ways in which a key stops being valid. */
const ENDINGS: Record<string, (gateway: Gateway) => Promise<unknown>> = {
  revoked: ({ store }) => store.updateTable('api_keys').set({ revoked_at: 'now' }).execute(),
  expired: ({ store, clock }) =>
    store
      .updateTable('api_keys')
      .set({ expires_at: new Date(clock.now()).toISOString() })
      .execute(),
  rotated: ({ store }) => store.updateTable('api_keys').set({ key_hash: 'another' }).execute(),
  disabled: ({ store }) => store.updateTable('accounts').set({ disabled_at: 'now' }).execute(),
}

for (const [how, end] of Object.entries(ENDINGS)) {
  test(`5.3 a stream ends with an error event once its key is ${how}`, async (t) => {
    const { gateway, requestId, events } = await openStream(t, '?interval=10')
    await next(events)
    report(gateway, requestId, 0.5)
    await next(events)
    await end(gateway)
    gateway.clock.advance(1_000)
    report(gateway, requestId, 0.6)
    const { name, data } = await next(events)
    assert.equal(name, 'error')
    assert.equal(data.error.code, how === 'disabled' ? 'ACCOUNT_DISABLED' : 'UNAUTHENTICATED')
    assert.equal((await events.next()).done, true)
    assert.deepEqual(gateway.logged('error'), [])
  })
}

test('5.3 an idle stream ends at its next interval once its key is revoked', async (t) => {
  const { gateway, events } = await openStream(t, '?interval=1')
  await next(events)
  await ENDINGS.revoked!(gateway)
  assert.equal((await next(events)).name, 'error')
})

test('4.7 and 8 an unknown request has no stream, HEAD none either, an account a limited number', async (t) => {
  const { gateway, requestId, events } = await openStream(t, '', { streamsMaxPerAccount: 1 })
  await next(events)
  const refused = await gateway.call('GET', `${API}/requests/${requestId}/status/stream`)
  assertError(refused, 'RATE_LIMITED')
  assert.equal(refused.headers['retry-after'], '30')
  const url = `${API}/requests/req_unknown/status/stream`
  assertError(await gateway.call('GET', url), 'NOT_FOUND')
  assert.equal((await gateway.call('HEAD', url)).statusCode, 405)
})

test('4.5 a client that leaves is forgotten', async (t) => {
  const { gateway, events, leave } = await openStream(t, '?interval=10')
  await next(events)
  leave()
  while (gateway.feed.watches > 0) await sleep(5)
})

test('4.5 a client that leaves before its stream begins is forgotten, too', async (t) => {
  let [isHeld, release] = [false, () => {}]
  const released = new Promise<void>((resolve) => (release = resolve))
  const plugin: KyselyPlugin = {
    transformQuery: ({ node }) => node,
    async transformResult({ result }) {
      if (isHeld) await released
      return result
    },
  }
  const gateway = await startGateway(t, { plugin, streamsMaxPerAccount: 1 })
  const url = `${await gateway.listen()}${API}/requests/${await gateway.submitted()}/status/stream`
  const headers = { authorization: `Bearer ${gateway.key}` }
  isHeld = true
  const call = request(url, { headers }).on('error', () => {})
  call.end()
  const [socket] = await once(call, 'socket')
  await once(socket, 'connect')
  await sleep(100) // until the gateway waits for its database
  call.destroy()
  await sleep(100)
  isHeld = false
  release()
  const following = await fetch(url, { headers })
  assert.equal(following.status, 200)
  await following.body?.cancel()
})

test('4.5 open streams end cleanly when the gateway closes', async (t) => {
  const { gateway, events } = await openStream(t, '?interval=10')
  await next(events)
  const ended = events.next()
  await gateway.app.close()
  assert.equal((await ended).done, true)
})
