/**
 * A receiver accepts connections and never answers, under any number of names: nobody else waits.
 */

import assert from 'node:assert/strict'
import { createServer, type Socket } from 'node:net'
import { once } from 'node:events'
import { test, type TestContext } from 'node:test'
import { createLogger } from '../../shared/telemetry/log.ts'
import { createPublicPost } from '../../gateway/webhooks/public-post.ts'
import { WebhookSender } from '../../gateway/webhooks/sender.ts'
import {
  API,
  callWith,
  startGateway,
  uploadFile,
  type Gateway,
} from '../support/gateway/start-gateway.ts'
import { startReceiver } from '../support/http/webhook-receiver.ts'

const NAMES = 40
const POSTS_MAX = 8
const timeout = 240_000

/** Takes connections on an address of its own, and is silent. */
async function startHole(t: TestContext) {
  const sockets = new Set<Socket>()
  let mostAtOnce = 0
  const server = createServer((socket) => {
    // A post that finds the address busy connects as well, and ends before it sends a byte.
    socket.once('data', () => {
      sockets.add(socket)
      mostAtOnce = Math.max(mostAtOnce, sockets.size)
    })
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
  }).listen(0, '127.0.0.2')
  await once(server, 'listening')
  t.after(() => {
    server.close()
    sockets.forEach((socket) => socket.destroy())
  })
  const { port } = server.address() as { port: number }
  return {
    port,
    sockets,
    mostAtOnce: () => mostAtOnce,
    hangUp: () => sockets.forEach((socket) => socket.destroy()),
  }
}

/** Makes requests of an account that FAILED, and whose webhooks go to `urls`. */
async function failedRequests(gateway: Gateway, urls: readonly string[]): Promise<string[]> {
  const fileId = await uploadFile(gateway)
  const ids = []
  for (const webhookUrl of urls) {
    const input = { prompt: 'a bell', file_id: fileId }
    const reply = await gateway.call('POST', `${API}/audio/separate`, {
      body: { input, webhookUrl },
    })
    ids.push(reply.json().request_id as string)
    await gateway.publish()
    await gateway.event('started', ids.at(-1)!)
    await gateway.event('failed', ids.at(-1)!)
  }
  return ids
}

const deliveriesOf = (gateway: Gateway, requestIds: readonly string[]) =>
  gateway.store
    .selectFrom('deliveries')
    .select(['state', 'attempts'])
    .where('request_id', 'in', requestIds)
    .execute()

test(
  '40 names that lead to one receiver that hangs delay no other account',
  { timeout },
  async (t) => {
    const [gateway, hole, receiver] = await Promise.all([
      startGateway(t),
      startHole(t),
      startReceiver(t),
    ])
    receiver.answerAll(204)
    const { post } = createPublicPost({
      allowCidrs: ['127.0.0.0/8'],
      limits: { postMsMax: 600_000, connectMsMax: 600_000, addressPostsMax: POSTS_MAX },
      resolve: async (name) => [
        { address: name.startsWith('hook-') ? '127.0.0.2' : '127.0.0.1', family: 4 },
      ],
    })
    const hung = await failedRequests(
      gateway,
      Array.from({ length: NAMES }, (_, i) => `http://hook-${i}.example:${hole.port}/`),
    )
    gateway.clock.advance(1) // so that all of these are due first
    const well = { ...gateway, call: callWith(gateway, await gateway.newKey()) }
    const [delivered] = await failedRequests(well, [receiver.url])
    const sender = new WebhookSender({
      store: gateway.store,
      clock: gateway.clock,
      log: createLogger('gateway', 'silent'),
      post,
      encryptionKeys: gateway.deps.config.encryptionKeys,
      attemptsMax: 32,
      hostAttemptsMax: POSTS_MAX,
    })
    t.after(() => sender.stop()) // also when the test failed
    sender.start()
    await receiver.next()
    while ((await deliveriesOf(gateway, [delivered!]))[0]?.state !== 'delivered')
      await new Promise(setImmediate)
    const count = async (state: string, attempts: number) =>
      (await deliveriesOf(gateway, hung)).filter(
        (row) => row.state === state && row.attempts === attempts,
      ).length

    // A post that found the address busy is not counted as a try; the others have half of it.
    while (
      (await count('pending', 0)) < NAMES - POSTS_MAX / 2 ||
      hole.sockets.size < POSTS_MAX / 2
    ) {
      await new Promise(setImmediate)
    }
    assert.equal(await count('sending', 1), POSTS_MAX / 2)
    assert.equal(hole.mostAtOnce(), POSTS_MAX / 2)

    hole.hangUp()
    gateway.clock.advance(15_000)
    while (hole.sockets.size < POSTS_MAX / 2) await new Promise(setImmediate)
    assert.equal(hole.mostAtOnce(), POSTS_MAX / 2)
    const stopped = sender.stop()
    hole.hangUp()
    await stopped
  },
)
