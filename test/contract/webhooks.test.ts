import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { Kysely, Migrator, SqliteDialect } from 'kysely'
import { Webhook } from 'standardwebhooks'
import type { PostMessage, PostOutcome } from '../../gateway/webhooks/public-post.ts'
import { createDeadLetterHandler } from '../../gateway/requests/follow/dead-letters.ts'
import { ServiceError } from '../../shared/errors.ts'
import { TESTS_PER_MINUTE } from '../../gateway/webhooks/tester.ts'
import { QueueResultResponse } from '../../gateway/api/result-schemas.ts'
import {
  DeliveryAttemptList,
  QueueStatusResponse,
  QueueSubmitResponse,
  WebhookDeliveryStatus,
} from '../../gateway/api/schemas.ts'
import { openTestDatabase } from '../support/database/test-database.ts'
import { openSqlite, SqliteDatabase } from '../../gateway/store/driver/sqlite.ts'
import { claimDue, listDueAccounts } from '../../gateway/store/deliveries.ts'
import { readAttempts } from '../../gateway/store/delivery-attempts.ts'
import { migrations } from '../../gateway/store/schema/migrations.ts'
import {
  SeparationCompletedEvent,
  SeparationFailedEvent,
  WebhookAttemptList,
  WebhookTestResult,
} from '../../gateway/api/webhook-schemas.ts'
import { DELAYS_SECONDS } from '../../gateway/webhooks/schedule.ts'
import { temporaryFolder } from '../support/basics/temporary-folder.ts'
import { assertError, assertShape } from '../support/gateway/assert-shape.ts'
import {
  API,
  byAnother,
  type Gateway,
  startGateway,
  withKey,
} from '../support/gateway/start-gateway.ts'
import { webhookSender } from '../support/gateway/webhook-sender.ts'

const HOOK = 'https://hooks.example/in?token=1'
const SECRET = 'a secret of the client'

type PostedWebhook = PostMessage & { url: string; signal: AbortSignal }
type Answer = PostOutcome | ((posted: PostedWebhook) => Promise<PostOutcome>)

const OK = { status: 200, retryAfter: undefined }
const BROKEN = { status: 500, retryAfter: undefined }

/** A gateway whose webhooks go to `posts`; each is answered as `answer` says at that moment. */
async function startWithWebhooks(t: TestContext) {
  const gateway = await startGateway(t)
  const posts: PostedWebhook[] = []
  const world = { answer: OK as Answer }
  const post = async (url: string, message: PostMessage, signal: AbortSignal) => {
    const posted = { url, ...message, signal }
    posts.push(posted)
    return typeof world.answer === 'function' ? world.answer(posted) : world.answer
  }
  const newSender = (store = gateway.store, limits = {}) =>
    webhookSender({ ...gateway, store }, { post, random: () => 0.5, ...limits })
  const sender = newSender()
  return { ...gateway, posts, world, newSender, send: () => sender.send() }
}

type Webhooks = Awaited<ReturnType<typeof startWithWebhooks>>

const WEBHOOK = { webhookUrl: HOOK, webhookSecret: SECRET }

async function submit(gateway: Gateway, fields: object = {}) {
  const reply = await gateway.submit({}, { ...WEBHOOK, ...fields })
  assert.equal(reply.statusCode, 202, reply.body)
  assertShape(QueueSubmitResponse, reply.json())
  await gateway.publish()
  return reply.json()
}

/** The id of a request that has FAILED and whose webhook is due. */
const failed = (gateway: Gateway, fields: object = {}): Promise<string> =>
  gateway.failed({}, { ...WEBHOOK, ...fields })

async function webhookOf(gateway: Gateway, requestId: string): Promise<WebhookDeliveryStatus> {
  const status = await gateway.statusOf(requestId)
  assertShape(QueueStatusResponse, status)
  return status.webhook
}

const redeliver = (gateway: Gateway, requestId: string) =>
  gateway.call('POST', `${API}/requests/${requestId}/webhook/redeliver`)

const eventOf = ({ body }: PostedWebhook | undefined = {} as PostedWebhook) =>
  JSON.parse(body.toString())

/** Returns the signature that a library of Standard Webhooks makes for a message. */
function signatureOf({ headers, body }: PostMessage, secret: string): string {
  const verifier = secret.startsWith('whsec_')
    ? new Webhook(secret)
    : new Webhook(secret, { format: 'raw' })
  const at = new Date(1_000 * Number(headers['webhook-timestamp']))
  return verifier.sign(headers['webhook-id']!, at, body)
}

const pending = { delivery_status: 'pending', attempts: 0, delivered_at: null, last_error: null }

test('6.1 a completed request is posted to its webhook, signed', async (t) => {
  const gateway = await startWithWebhooks(t)
  const metadata = { order: 7, nested: { ключ: [null] } }
  const submitted = await submit(gateway, { metadata })
  assert.deepEqual(submitted.webhook, { url: HOOK })
  const { request_id: requestId } = submitted
  assert.deepEqual(await webhookOf(gateway, requestId), pending)
  await gateway.send()
  assert.equal(gateway.posts.length, 0)
  await gateway.complete(requestId)
  assert.deepEqual(await webhookOf(gateway, requestId), pending)
  await gateway.send()

  assert.equal(gateway.posts.length, 1)
  const posted = gateway.posts[0]!
  assert.equal(posted.url, HOOK)
  const event = eventOf(posted)
  assertShape(SeparationCompletedEvent, event)
  const result = (await gateway.call('GET', submitted.result_url)).json()
  assertShape(QueueResultResponse, result)
  const now = new Date(gateway.clock.now()).toISOString()
  assert.deepEqual(event, {
    type: 'audio.separate.completed',
    request_id: requestId,
    model: 'audio/separate',
    status: 'COMPLETED',
    created_at: submitted.created_at,
    completed_at: now,
    data: result.data,
    usage: result.usage,
    metadata,
  })
  const delivered = {
    delivery_status: 'delivered',
    attempts: 1,
    delivered_at: now,
    last_error: null,
  }
  assert.deepEqual(result.webhook, delivered)
  assert.deepEqual(await webhookOf(gateway, requestId), delivered)
  const { headers } = posted
  assert.match(headers['webhook-id'] ?? '', /^msg_\w+$/)
  assert.equal(headers['content-type'], 'application/json')
  assert.equal(Number(headers['webhook-timestamp']), Math.floor(gateway.clock.now() / 1_000))
  assert.equal(headers['webhook-signature'], signatureOf(posted, SECRET))

  gateway.clock.advance(7 * 86_400_000 - 1)
  const target = await gateway.call('GET', event.data.target.url)
  assert.equal(target.body, 'target', 'the address lives as long as the output')
  await gateway.send()
  assert.equal(gateway.posts.length, 1)
})

test('2.8 a secret that was not given is made and returned once; none is stored as it is', async (t) => {
  const gateway = await startWithWebhooks(t)
  const { request_id: requestId, webhook } = await submit(gateway, { webhookSecret: undefined })
  assert.equal(webhook.url, HOOK)
  assert.match(webhook.signing_secret, /^whsec_[A-Za-z0-9+/]{43}=$/)
  await gateway.complete(requestId)
  await gateway.send()
  const [posted] = gateway.posts
  const signature = signatureOf(posted!, webhook.signing_secret)
  assert.equal(posted!.headers['webhook-signature'], signature)
  for (const path of ['status', 'result', 'status/stream']) {
    const reply = await gateway.call('GET', `${API}/requests/${requestId}/${path}`)
    assert.doesNotMatch(reply.body, /whsec_|signing_secret/)
  }
  await failed(gateway)
  const rows = JSON.stringify([await gateway.rows('requests'), await gateway.rows('deliveries')])
  assert.ok(rows.includes(HOOK), 'the rows are there')
  assert.ok(!rows.includes(SECRET) && !rows.includes(webhook.signing_secret.slice(6)), 'no secret')
})

test('6.1 metadata comes back as it was written, digit for digit', async (t) => {
  const gateway = await startWithWebhooks(t)
  const metadata =
    '{"id":12345678901234567890,"x":[1.10,1e400],"metadata":{"a":"\\"}[{"},"__proto__":{}}'
  const fileId = await gateway.uploadFile()
  const reply = await gateway.call('POST', `${API}/audio/separate`, {
    headers: { 'content-type': 'application/json' },
    body:
      `{ "metadata": 1, "input": {"prompt":"x", "file_id":"${fileId}"}, "webhookUrl":"${HOOK}",\n` +
      ` "metadata": ${metadata.replaceAll(',', ' ,\n').replace('"x"', '"\\u0078"')} , "more": {"metadata": 2} }`,
  })
  assert.equal(reply.statusCode, 202, reply.body)
  await gateway.publish()
  await gateway.complete(reply.json().request_id)
  await gateway.send()
  assert.ok(gateway.posts[0]?.body.toString().endsWith(`,"metadata":${metadata}}`))
})

test('6.1 every way to fail is posted: by the engine, by cancel, by the loss of engines', async (t) => {
  const gateway = await startWithWebhooks(t)
  const byEngine = await failed(gateway, { metadata: {} })
  const { request_id: canceled } = await submit(gateway)
  assert.equal((await gateway.call('PUT', `${API}/requests/${canceled}/cancel`)).statusCode, 202)
  const { request_id: lost } = await submit(gateway)
  await createDeadLetterHandler(gateway.deps)({ stream: 'JOBS', sequence: 3, request_id: lost })
  await gateway.send()
  const events = gateway.posts.map(eventOf)
  for (const event of events) assertShape(SeparationFailedEvent, event)
  const codes = new Map(events.map((event) => [event.request_id, event.error.code]))
  assert.deepEqual(
    [byEngine, canceled, lost].map((id) => codes.get(id)),
    ['MODEL_FAILED', 'CANCELED', 'ENGINE_LOST'],
  )
  const { created_at, ...event } = events.find((event) => event.request_id === byEngine)
  assert.deepEqual(event, {
    type: 'audio.separate.failed',
    request_id: byEngine,
    model: 'audio/separate',
    status: 'FAILED',
    failed_at: created_at,
    error: { code: 'MODEL_FAILED', message: 'The model failed.' },
    metadata: {},
  })
})

test('6.1 a request without webhookUrl has no webhook, and an end that is reported twice has one', async (t) => {
  const gateway = await startWithWebhooks(t)
  const { request_id: silent, webhook } = await submit(gateway, { webhookUrl: undefined })
  assert.equal(webhook, undefined)
  await gateway.complete(silent)
  assert.equal(await webhookOf(gateway, silent), undefined)
  const requestId = await failed(gateway)
  await gateway.event('failed', requestId)
  await gateway.event('completed', requestId)
  await gateway.send()
  assert.deepEqual(
    gateway.posts.map((posted) => eventOf(posted).request_id),
    [requestId],
  )
})

test('6.1 tries follow the schedule: the same id and bytes, a new time and signature', async (t) => {
  const gateway = await startWithWebhooks(t)
  gateway.world.answer = BROKEN
  const requestId = await failed(gateway)
  for (const [index, seconds] of DELAYS_SECONDS.entries()) {
    if (index > 0) {
      gateway.clock.advance(1_000 * seconds - 1)
      await gateway.send()
      assert.equal(gateway.posts.length, index, 'not sooner')
      gateway.clock.advance(1)
    }
    await gateway.send()
    assert.equal(gateway.posts.length, index + 1)
    assert.deepEqual(await webhookOf(gateway, requestId), {
      ...pending,
      delivery_status: index === 9 ? 'failed' : 'pending',
      attempts: index + 1,
      last_error: 'The receiver returned 500; only a 2xx counts as delivered.',
    })
  }
  gateway.clock.advance(86_400_000 * 2)
  await gateway.send()
  assert.equal(gateway.posts.length, 10)
  const different = (values: readonly unknown[]) => new Set(values).size
  assert.equal(different(gateway.posts.map(({ body }) => body.toString('base64'))), 1)
  for (const [name, count] of [
    ['webhook-id', 1],
    ['webhook-timestamp', 10],
    ['webhook-signature', 10],
  ] as const) {
    assert.equal(different(gateway.posts.map(({ headers }) => headers[name])), count, name)
  }
})

test('6.1 any 2xx is delivery, 410 the end, a redirect a failed try', async (t) => {
  const gateway = await startWithWebhooks(t)
  const after = async (answer: PostOutcome) => {
    gateway.world.answer = answer
    const requestId = await failed(gateway)
    await gateway.send()
    return webhookOf(gateway, requestId)
  }
  for (const status of [200, 202, 204, 299]) {
    assert.equal((await after({ ...OK, status })).delivery_status, 'delivered', `${status}`)
  }
  const gone = await after({ ...OK, status: 410 })
  assert.equal(gone.delivery_status, 'failed')
  assert.match(gone.last_error ?? '', /410/)
  for (const status of [301, 304, 307, 400, 404, 429, 500, 503]) {
    const { delivery_status, last_error } = await after({ ...OK, status })
    assert.equal(delivery_status, 'pending', `${status}`)
    assert.match(last_error ?? '', RegExp(`returned ${status}${status < 400 ? '; redirects' : ''}`))
  }
  const problem = 'webhookUrl could not be reached: its host name could not be looked up.'
  assert.deepEqual(await after({ problem }), { ...pending, attempts: 1, last_error: problem })
})

test('6.1 two senders share what is due, and nothing is sent twice', async (t) => {
  const gateway = await startWithWebhooks(t)
  const ids = []
  for (let i = 0; i < 12; i += 1) {
    ids.push(await failed(gateway, { webhookUrl: `https://hooks-${i % 4}.example/` }))
  }
  const otherStore = await openTestDatabase(gateway.database) // as another process has it
  const others = [gateway.newSender(otherStore), gateway.newSender(otherStore)]
  await Promise.all([gateway.send(), ...others.map((sender) => sender.send())])
  await otherStore.destroy()
  const sent = gateway.posts.map((posted) => eventOf(posted).request_id)
  assert.deepEqual(sent.sort(), ids.sort())
})

/** Answers that wait to be given. */
function heldAnswers({ world }: Webhooks) {
  const held: ((outcome: PostOutcome) => void)[] = []
  world.answer = ({ signal }) =>
    new Promise((resolve) => {
      held.push(resolve)
      signal.addEventListener('abort', () => resolve({ problem: 'given up' }))
    })
  return held
}

test('6.1 what a lost sender held is sent again when its claim lapses, and not before', async (t) => {
  const gateway = await startWithWebhooks(t)
  const held = heldAnswers(gateway)
  const requestId = await failed(gateway)
  const lost = gateway.newSender()
  await lost.startDue()
  assert.deepEqual(await webhookOf(gateway, requestId), {
    ...pending,
    delivery_status: 'sending',
    attempts: 1,
  })
  gateway.world.answer = OK
  gateway.clock.advance(29_999)
  await gateway.send()
  assert.equal(gateway.posts.length, 1)
  gateway.clock.advance(1)
  await gateway.send()
  assert.equal(gateway.posts.length, 2)
  held[0]?.(BROKEN) // it was not lost, only slow: what it says comes too late
  await lost.idle()
  const { delivery_status, attempts } = await webhookOf(gateway, requestId)
  assert.deepEqual({ delivery_status, attempts }, { delivery_status: 'delivered', attempts: 1 })
})

test('6.1 tries at once are bounded, and one slow host does not hold up the others', async (t) => {
  const gateway = await startWithWebhooks(t)
  const held = heldAnswers(gateway)
  for (let i = 0; i < 6; i += 1) await failed(gateway, { webhookUrl: 'https://slow.example/' })
  gateway.clock.advance(1) // so that all of these are due first
  for (let i = 0; i < 4; i += 1) await failed(gateway, { webhookUrl: `https://host-${i}.example/` })
  // An account that is alone gets half of these, rounded up.
  const sender = gateway.newSender(gateway.store, { attemptsMax: 9, hostAttemptsMax: 3 })
  const hosts = () => gateway.posts.map(({ url }) => new URL(url).hostname.replace(/\d/, '')).sort()
  await sender.startDue()
  assert.deepEqual(hosts(), [...Array(3).fill('host-.example'), ...Array(2).fill('slow.example')])
  await sender.startDue()
  assert.equal(gateway.posts.length, 5)
  while (gateway.posts.length < 10 || held.length > 0) {
    held.splice(0).forEach((answer) => answer(OK))
    await sender.idle()
    await sender.startDue()
  }
  assert.equal(gateway.posts.length, 10)
})

/** Far beyond what it takes. */
const timeout = 120_000

test(
  '6.1 accounts take turns: webhooks to hosts that hang delay those of their account',
  { timeout },
  async (t) => {
    const gateway = await startWithWebhooks(t)
    const of = (key: string) => withKey(gateway, key)
    const held: ((outcome: PostOutcome) => void)[] = []
    gateway.world.answer = ({ url }) =>
      url.includes('hangs')
        ? new Promise((resolve) => {
            held.push(resolve)
          })
        : Promise.resolve(OK)
    for (let i = 0; i < 12; i += 1)
      await failed(gateway, { webhookUrl: `https://hangs-${i}.example/` })
    gateway.clock.advance(1) // so that all of these are due first
    const other = of(await gateway.newKey())
    const well = [await failed(other), await failed(other), await failed(other)]
    const sender = gateway.newSender(gateway.store, { attemptsMax: 4 })
    const delivered = async (by: Gateway, requestId: string) => {
      while ((await webhookOf(by, requestId)).delivery_status !== 'delivered')
        await sender.startDue()
    }
    for (const requestId of well) await delivered(other, requestId)
    assert.equal(held.length, 2, 'half of the tries')
    const newcomer = of(await gateway.newKey())
    await delivered(newcomer, await failed(newcomer))
    while (held.length > 0) {
      held.splice(0).forEach((answer) => answer(OK))
      await sender.idle()
      await sender.startDue()
    }
    assert.equal(gateway.posts.length, 16)
  },
)

test('6.1 what finds its address busy is not counted as a try, and comes again within 15 seconds', async (t) => {
  const gateway = await startWithWebhooks(t)
  gateway.world.answer = { problem: 'busy', isBusy: true }
  const requestId = await failed(gateway)
  await gateway.send()
  assert.deepEqual(await webhookOf(gateway, requestId), pending)
  gateway.world.answer = OK
  gateway.clock.advance(9_999)
  await gateway.send()
  assert.equal(gateway.posts.length, 1)
  gateway.clock.advance(1)
  await gateway.send()
  const { delivery_status, attempts } = await webhookOf(gateway, requestId)
  assert.deepEqual({ delivery_status, attempts }, { delivery_status: 'delivered', attempts: 1 })
})

test('6.1 receivers that ask for a day each time get their last try within 92 hours', async (t) => {
  const gateway = await startWithWebhooks(t)
  gateway.world.answer = { status: 503, retryAfter: '86400' }
  const requestId = await failed(gateway)
  gateway.clock.advance(50 * 3_600_000) // while no gateway was there: the tries begin with the first
  const tries = async () => {
    const begin = gateway.clock.now()
    const hours: number[] = []
    for (
      let posts = gateway.posts.length;
      (await webhookOf(gateway, requestId)).delivery_status === 'pending';
    ) {
      await gateway.send()
      if (gateway.posts.length > posts) hours.push((gateway.clock.now() - begin) / 3_600_000)
      posts = gateway.posts.length
      gateway.clock.advance(3_600_000)
    }
    return hours
  }
  assert.deepEqual(await tries(), [0, 24, 48, 72, 92])
  assert.equal((await redeliver(gateway, requestId)).statusCode, 202)
  assert.deepEqual(await tries(), [0, 24, 48, 72, 92], 'again by hand')
})

test('6.1 each end with a webhook wakes a sender, whose tries are made again once it stops', async (t) => {
  const gateway = await startWithWebhooks(t)
  heldAnswers(gateway)
  let wakes = 0
  gateway.deps.wakeWebhooks = () => {
    wakes += 1
  }
  const requestId = await failed(gateway)
  const { request_id: canceled } = await submit(gateway)
  await gateway.call('PUT', `${API}/requests/${canceled}/cancel`)
  await submit(gateway)
  await failed(gateway, { webhookUrl: undefined })
  assert.equal(wakes, 2, 'neither a submit nor an end without a webhook')
  const sender = gateway.newSender()
  sender.start()
  while (gateway.posts.length < 2) await new Promise(setImmediate)
  await sender.stop()
  assert.deepEqual(await webhookOf(gateway, requestId), pending)
  gateway.world.answer = OK
  await gateway.send()
  assert.equal((await webhookOf(gateway, requestId)).delivery_status, 'delivered')
})

test('6.1 a secret that can no longer be decrypted is a failed try, and logged', async (t) => {
  const gateway = await startWithWebhooks(t)
  const requestId = await failed(gateway)
  const encryptionKeys = [Buffer.alloc(32).toString('base64url')] as const
  await gateway.newSender(gateway.store, { encryptionKeys }).send()
  assert.equal(gateway.posts.length, 0)
  assert.deepEqual(await webhookOf(gateway, requestId), {
    ...pending,
    attempts: 1,
    last_error: 'The signing secret can no longer be read.',
  })
})

test('extension: a webhook is sent again by hand, with the same id and body', async (t) => {
  const gateway = await startWithWebhooks(t)
  gateway.world.answer = { status: 410, retryAfter: undefined }
  const requestId = await failed(gateway)
  await gateway.send()
  assert.equal((await webhookOf(gateway, requestId)).delivery_status, 'failed')
  for (let i = 0; i < 2; i += 1) {
    // also when it was delivered
    const reply = await redeliver(gateway, requestId)
    assert.equal(reply.statusCode, 202)
    assertShape(WebhookDeliveryStatus, reply.json())
    assert.deepEqual(reply.json(), pending)
    gateway.world.answer = OK
    await gateway.send()
    assert.equal((await webhookOf(gateway, requestId)).attempts, 1)
  }
  const [first, ...others] = gateway.posts
  assert.equal(others.length, 2)
  for (const { headers, body } of others) {
    assert.equal(headers['webhook-id'], first?.headers['webhook-id'])
    assert.deepEqual(body, first?.body)
  }
})

test('extension: sent again by hand while it is being sent, it goes on as the first try', async (t) => {
  const gateway = await startWithWebhooks(t)
  gateway.world.answer = BROKEN
  const requestId = await failed(gateway)
  await gateway.send()
  const [held, sender] = [heldAnswers(gateway), gateway.newSender()]
  gateway.clock.advance(5_000)
  await sender.startDue()
  assert.equal((await webhookOf(gateway, requestId)).attempts, 2)
  const reply = await redeliver(gateway, requestId)
  assert.deepEqual(reply.json(), { ...pending, delivery_status: 'sending', attempts: 1 })
  await gateway.send()
  assert.equal(gateway.posts.length, 2, 'nobody else sends it meanwhile')
  held[0]?.(BROKEN)
  await sender.idle()
  gateway.world.answer = OK
  gateway.clock.advance(5_000)
  await gateway.send()
  assert.equal((await webhookOf(gateway, requestId)).delivery_status, 'delivered')
})

test('extension: what cannot be sent again by hand', async (t) => {
  const gateway = await startWithWebhooks(t)
  const { request_id: requestId } = await submit(gateway)
  assertError(await redeliver(gateway, requestId), 'RESULT_NOT_READY')
  await gateway.complete(requestId)
  const { request_id: silent } = await submit(gateway, { webhookUrl: undefined })
  assertError(await redeliver(gateway, silent), 'NOT_FOUND')
  await gateway.complete(silent)
  assertError(await redeliver(gateway, silent), 'NOT_FOUND')
  assertError(await redeliver(gateway, 'req_unknown'), 'NOT_FOUND')
  assertError(await redeliver(await byAnother(gateway), requestId), 'NOT_FOUND')
  const reader = withKey(gateway, await gateway.newKey(['files:read']))
  assertError(await redeliver(reader, requestId), 'PERMISSION_DENIED')
})

test('6.1 each attempt of a delivery is listed with its time and outcome', async (t) => {
  const gateway = await startWithWebhooks(t)
  const requestId = await failed(gateway)
  const answers: Answer[] = [
    BROKEN,
    { problem: 'webhookUrl could not be reached: it did not answer in time.' },
    { problem: 'busy', isBusy: true },
    async () => {
      gateway.clock.advance(250)
      return OK
    },
  ]
  for (const answer of answers) {
    gateway.world.answer = answer
    await gateway.send()
    gateway.clock.advance(3_600_000)
  }
  const reply = await gateway.call('GET', `${API}/requests/${requestId}/webhook/attempts`)
  assertShape(DeliveryAttemptList, reply.json())
  const { data } = reply.json()
  assert.deepEqual(
    data.map(({ status_code, error, duration_ms }: any) => [status_code, error, duration_ms]),
    [
      [500, 'The receiver returned 500; only a 2xx counts as delivered.', 0],
      [null, 'webhookUrl could not be reached: it did not answer in time.', 0],
      [200, null, 250],
    ],
    'one that was not sent is none',
  )
  assert.ok(data[0].started_at < data[1].started_at)
  assert.equal((await webhookOf(gateway, requestId)).attempts, 3)
  const latest = await gateway.call('GET', '/v1/webhook-attempts')
  assertShape(WebhookAttemptList, latest.json())
  const named = { request_id: requestId, endpoint_id: null, host: 'hooks.example' }
  assert.deepEqual(
    latest.json().data,
    data.map((attempt: object) => ({ ...named, ...attempt })).reverse(),
    'the latest first',
  )
  const { call: other } = await byAnother(gateway)
  assert.deepEqual((await other('GET', '/v1/webhook-attempts')).json().data, [])
  assertError(await other('GET', `${API}/requests/${requestId}/webhook/attempts`), 'NOT_FOUND')
})

test('6.1 a receiver is tried with an event that is signed as every webhook', async (t) => {
  const posts: (PostMessage & { url: string })[] = []
  const world = { answer: OK as PostOutcome }
  const gateway = await startGateway(t, {
    postWebhook: async (url, message) => {
      posts.push({ url, ...message })
      return world.answer
    },
    checkWebhookUrl: async (url) => {
      if (url.includes('10.0.0.1')) throw new ServiceError('INVALID_WEBHOOK_URL')
    },
  })
  const send = (body: object, key = gateway.key) =>
    gateway.call('POST', '/v1/webhook-test', { body, key })
  const given = await send({ webhookUrl: HOOK, webhookSecret: SECRET })
  assertShape(WebhookTestResult, given.json())
  assert.deepEqual([given.statusCode, given.json().delivered], [200, true])
  assert.equal('signing_secret' in given.json(), false)
  const [post] = posts
  assert.equal(post!.headers['webhook-signature'], signatureOf(post!, SECRET))
  assert.equal(JSON.parse(String(post!.body)).type, 'webhook.test')
  assert.equal(post!.headers['webhook-id'], given.json().webhook_id)

  world.answer = BROKEN
  const broken = (await send({ webhookUrl: HOOK })).json()
  assert.deepEqual([broken.delivered, broken.status_code], [false, 500])
  assert.match(broken.signing_secret, /^whsec_/)
  assertError(await send({ webhookUrl: 'https://10.0.0.1/' }), 'INVALID_WEBHOOK_URL')
  assertError(await send({}), 'INVALID_REQUEST', 'webhookUrl')
  assertError(
    await send({ webhookUrl: HOOK, webhookSecret: 'short' }),
    'INVALID_PARAMETER',
    'webhookSecret',
  )
  const scopeless = await gateway.newKey(['files:read'])
  assertError(await send({ webhookUrl: HOOK }, scopeless), 'PERMISSION_DENIED')
  assert.equal(posts.length, 2)
  for (let i = posts.length; i < TESTS_PER_MINUTE; i += 1) await send({ webhookUrl: HOOK })
  const refused = await send({ webhookUrl: HOOK })
  assertError(refused, 'RATE_LIMITED')
  assert.ok(Number(refused.headers['retry-after']) > 0)
  assert.equal(posts.length, TESTS_PER_MINUTE)
  assert.equal((await send({ webhookUrl: HOOK }, await gateway.newKey())).statusCode, 200)
  gateway.clock.advance(60_000)
  assert.equal((await send({ webhookUrl: HOOK })).statusCode, 200)
})

test('a database from before accounts took turns keeps its webhooks', async (t) => {
  const path = join(temporaryFolder(t), 'winnow.db')
  const database = new SqliteDatabase(path)
  database.pragma('foreign_keys = ON')
  const old = new Kysely<any>({ dialect: new SqliteDialect({ database }) })
  const migrateUntil = async (end: string) => {
    const before = Object.fromEntries(Object.entries(migrations).filter(([name]) => name < end))
    const provider = { getMigrations: async () => before }
    assert.equal((await new Migrator({ db: old, provider }).migrateToLatest()).error, undefined)
  }
  await migrateUntil('005')
  const created_at = '2026-01-01T00:00:00.000Z'
  await old.insertInto('accounts').values({ account_id: 'a', name: 'Old', created_at }).execute()
  for (const [request_id, attempts] of [
    ['tried', 2],
    ['new', 0],
  ] as const) {
    const request = {
      request_id,
      account_id: 'a',
      created_at,
      updated_at: created_at,
      finished_at: created_at,
    }
    await old
      .insertInto('requests')
      .values({
        ...request,
        status: 'FAILED',
        prompt: 'x',
        options: '{}',
        file_name: 'x',
        webhook_url: HOOK,
      })
      .execute()
    await old
      .insertInto('deliveries')
      .values({
        webhook_id: `msg_${request_id}`,
        request_id,
        host: 'hooks.example',
        body: '{}',
        state: 'pending',
        attempts,
        next_attempt_at: created_at,
        created_at,
      })
      .execute()
  }
  await migrateUntil('032') // which makes the table of deliveries again
  const attempt = { attempt_id: 'try', webhook_id: 'msg_tried', started_at: created_at }
  await old
    .insertInto('delivery_attempts')
    .values({ ...attempt, duration_ms: 1 })
    .execute()
  await old.destroy()
  const store = await openSqlite(path, { migrates: true })
  assert.equal((await readAttempts(store, 'msg_tried')).length, 1)
  assert.deepEqual(await listDueAccounts(store, created_at), ['a'])
  const rows = await store.selectFrom('deliveries').selectAll().orderBy('webhook_id').execute()
  assert.deepEqual(
    rows.map((row) => [row.account_id, row.first_attempt_at]),
    [
      ['a', null],
      ['a', created_at],
    ],
  )
  const claim = { now: created_at, claimId: 'c', until: '2026-02-01T00:00:00.000Z' }
  const due = await claimDue(store, { ...claim, accountId: 'a', exceptHosts: [] })
  assert.deepEqual([due?.webhook_id, due?.attempts, due?.receiver?.url], ['msg_new', 1, HOOK])
  await store.destroy()
})
