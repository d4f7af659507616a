/** Two gateways on one PostgreSQL: the contract holds whatever both do at once. */

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { request, type IncomingMessage } from 'node:http'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate as nextRound } from 'node:timers/promises'
import test, { type TestContext } from 'node:test'
import { Webhook } from 'standardwebhooks'
import { sweep } from '../../../gateway/files/sweeper.ts'
import { rescue } from '../../../gateway/requests/follow/rescuer.ts'
import { cancelRequest, findOwn } from '../../../gateway/requests/own-requests.ts'
import { ensureAccount, findAccount } from '../../../gateway/store/accounts.ts'
import { inTransaction, type Store } from '../../../gateway/store/database.ts'
import { PLACE_TAKEN } from '../../../gateway/store/jobs-in-broker.ts'
import { credit, deduct, releaseReservation, reserve } from '../../../gateway/store/ledger.ts'
import type { Keys } from '../../../gateway/secrets.ts'
import { readEvents } from '../../support/http/event-stream.ts'
import { assertSound } from '../../support/gateway/metered.ts'
import { fc } from '../../support/basics/property.ts'
import {
  API,
  createFileBody,
  FILE_BYTES,
  startGateway,
  withKey,
  type Gateway,
  type GatewayOptions,
} from '../../support/gateway/start-gateway.ts'
import { webhookSender } from '../../support/gateway/webhook-sender.ts'

const URL_INPUT = { prompt: 'a bell', audio_url: 'https://media.example/x.wav' }
const SUBMIT = `${API}/audio/separate`

/** Starts two gateways, both of which use the first one's key. */
async function startTwo(t: TestContext, options: GatewayOptions = {}) {
  const first = await startGateway(t, { ...options, database: 'postgres' })
  const beside = await startGateway(t, { ...options, beside: first })
  return [first, withKey(beside, first.key, first.accountId)] as const
}

/** Runs `work` `times` times on each gateway, all at once. */
const atOnce = <T>(
  gateways: readonly Gateway[],
  times: number,
  work: (gateway: Gateway, i: number) => Promise<T>,
): Promise<T[]> =>
  Promise.all(
    Array.from({ length: times }, (_, i) => gateways.map((gateway) => work(gateway, i))).flat(),
  )

const submitTo = async (gateway: Gateway, key = gateway.key) =>
  gateway.call('POST', SUBMIT, { key, body: { input: URL_INPUT } })

const countOf = (statuses: readonly number[], status: number) =>
  statuses.filter((each) => each === status).length

const rowsOf = async (store: Store, table: 'requests' | 'outbox' | 'media_removals' | 'files') =>
  store.selectFrom(table).selectAll().execute()

test('an account has no more jobs with engines than it may, whichever gateway hands them over', async (t) => {
  const gateways = await startTwo(t)
  const [{ broker, store, clock, call, deps }] = gateways
  const { account_id: accountId } = (await call('GET', '/v1/account')).json()
  const may = 5
  await store.updateTable('accounts').set({ max_concurrent_jobs: may }).execute()
  // more than two batches of the publisher
  await atOnce(gateways, 75, (gateway) => submitTo(gateway))
  for (let round = 1; round <= 6; round += 1) {
    await Promise.all(gateways.map((gateway) => gateway.publish()))
    assert.equal(broker.jobs.size, may, `round ${round}`)
    for (const { request_id: requestId } of broker.jobs.values()) {
      await cancelRequest(deps, await findOwn(deps, accountId, requestId))
    }
    assert.equal(broker.jobs.size, 0)
    clock.advance(2_001) // what is held back is looked at again
  }
  const waiting = store.selectFrom('outbox').select('request_id').orderBy('message_id').limit(may)
  const ids = (await waiting.execute()).map((row) => row.request_id)
  const died = { job_sequence: PLACE_TAKEN } // a gateway has taken the places, and died
  await store.updateTable('requests').set(died).where('request_id', 'in', ids).execute()
  await Promise.all(gateways.map((gateway) => gateway.publish()))
  const given = [...broker.jobs.values()].map((job) => job.request_id)
  assert.deepEqual(given.sort(), ids)
})

test('a stream on one gateway sends at once what happens on the other', async (t) => {
  const [first, second] = await startTwo(t)
  const requestId = await first.submitted()
  const address = await second.listen()
  const call = request(`${address}${API}/requests/${requestId}/status/stream?interval=10`, {
    headers: { authorization: `Bearer ${first.key}` },
  })
  const [reply] = (await once(call.end(), 'response')) as [IncomingMessage]
  const seen: string[] = []
  const startedAt = performance.now()
  for await (const { data } of readEvents(reply)) {
    seen.push(data.status)
    if (data.status === 'IN_QUEUE') await first.event('started', requestId)
    if (data.status === 'IN_PROGRESS') await first.event('completed', requestId)
  }
  assert.deepEqual(seen, ['IN_QUEUE', 'IN_PROGRESS', 'COMPLETED'])
  assert.ok(performance.now() - startedAt < 10_000, 'sooner than the interval')
})

test("concurrent submits to both gateways get no more than an account's share of the queue", async (t) => {
  const config = { queueMax: 12, queueMaxPerAccount: 9 }
  const gateways = await startTwo(t, { config })
  const statuses = await atOnce(
    gateways,
    10,
    async (gateway) => (await submitTo(gateway)).statusCode,
  )
  // A single account must leave as many places free as it takes; the next one may take half of
  // those.
  assert.equal(countOf(statuses, 202), 6)
  assert.equal(countOf(statuses, 429), 14)
  const key = await gateways[0].newKey()
  const others = await atOnce(gateways, 5, async (each) => (await submitTo(each, key)).statusCode)
  assert.equal(countOf(others, 202), 3)
  assert.equal((await rowsOf(gateways[0].store, 'requests')).length, 9)
})

test('calls of a key are counted together, and a new minute starts on both', async (t) => {
  const gateways = await startTwo(t, { rateLimitPerMinute: 10 })
  const call = () =>
    atOnce(gateways, 10, async (gateway) =>
      gateway.call('GET', '/v1/account').then((reply) => reply.statusCode),
    )
  assert.equal(countOf(await call(), 200), 10)
  gateways[0].clock.advance(60_000)
  assert.equal(countOf(await call(), 200), 10)
  await sweep(gateways[0].deps)
  gateways[0].clock.advance(60_000)
  await sweep(gateways[1].deps)
  assert.deepEqual(await gateways[0].store.selectFrom('rate_windows').selectAll().execute(), [])
})

test('each job is published once, and those that a dead gateway had taken follow', async (t) => {
  const gateways = await startTwo(t)
  const [{ broker, store, clock }] = gateways
  await atOnce(gateways, 100, (gateway) => submitTo(gateway))
  await Promise.all(gateways.map((gateway) => gateway.publish()))
  assert.equal(broker.published, 200)
  assert.deepEqual(await rowsOf(store, 'outbox'), [])
  assert.ok((await rowsOf(store, 'requests')).every((row) => row.job_sequence !== null))
  await submitTo(gateways[0])
  await store.updateTable('outbox').set({ not_before: '2026-01-02T03:04:20.678Z' }).execute()
  await gateways[1].publish() // the other gateway took the job and died
  assert.equal(broker.published, 200)
  clock.advance(15_000)
  await gateways[1].publish()
  assert.equal(broker.published, 201)
})

test('a lost job is queued again once', async (t) => {
  const gateways = await startTwo(t)
  const [{ broker, store, clock }] = gateways
  await atOnce(gateways, 20, (gateway) => submitTo(gateway))
  await gateways[0].publish()
  broker.jobs.clear()
  clock.advance(600_000)
  await Promise.all(gateways.map(({ deps }) => rescue({ ...deps, broker })))
  assert.equal((await rowsOf(store, 'outbox')).length, 40)
  assert.ok((await rowsOf(store, 'requests')).every((row) => row.requeues === 1))
})

test('two sweepers remove everything that is past its time, once', async (t) => {
  const gateways = await startTwo(t)
  const [{ store, clock, deps, disk }] = gateways
  for (let round = 0; round < 5; round += 1) {
    await atOnce(gateways, 30, (gateway) =>
      gateway.call('POST', '/v1/files', { body: createFileBody() }),
    )
  }
  const requestId = await gateways[0].submitted()
  await gateways[0].complete(requestId)
  clock.advance(8 * 86_400_000)
  await Promise.all(gateways.map((gateway) => sweep(gateway.deps)))
  await sweep(deps) // sweeps what each gateway skipped while the other was working on it
  const files = await rowsOf(store, 'files')
  assert.equal(files.length, 301)
  assert.ok(files.every((row) => row.media_removed_at !== null))
  assert.deepEqual(await rowsOf(store, 'media_removals'), [])
  for await (const { key } of disk.list()) assert.fail(`${key} is still there`)
  clock.advance(31 * 86_400_000)
  await Promise.all(gateways.map((gateway) => sweep(gateway.deps)))
  await sweep(deps)
  assert.deepEqual(await rowsOf(store, 'requests'), [])
})

test('a file is kept for an accepted request, whenever it expires', async (t) => {
  const [first, second] = await startTwo(t)
  const slowClock = { elapsed: () => 0, now: () => first.clock.now() - 2 * 86_400_000 } // no file expires by it
  for (let round = 0; round < 15; round += 1) {
    const fileId = await first.uploadFile()
    first.clock.advance(86_400_000)
    const slow = await startGateway(t, { beside: first })
    slow.deps.clock = slowClock
    const body = { input: { prompt: 'a bell', file_id: fileId } }
    const [reply] = await Promise.all([
      slow.call('POST', SUBMIT, { body, key: first.key }),
      sweep(second.deps),
    ])
    const file = await first.store
      .selectFrom('files')
      .selectAll()
      .where('file_id', '=', fileId)
      .executeTakeFirstOrThrow()
    const isKept = file.media_removed_at === null
    assert.equal(reply.statusCode, isKept ? 202 : 410, reply.body)
    for (const row of await rowsOf(first.store, 'requests')) {
      if (row.status === 'IN_QUEUE') await first.event('failed', row.request_id)
    }
  }
})

test('a starting gateway leaves alone what another one is receiving', async (t) => {
  const first = await startGateway(t, { database: 'postgres' })
  const { upload_url: url } = (
    await first.call('POST', '/v1/files', { body: createFileBody() })
  ).json()
  const { pathname, search } = new URL(url)
  const upload = request(`${await first.listen()}${pathname}${search}`, {
    method: 'PUT',
    headers: { 'content-length': FILE_BYTES.length },
  })
  upload.write(FILE_BYTES.subarray(0, 4))
  const receiving = join(first.folder, 'media', '.new')
  while ((await readdir(receiving)).length === 0) await nextRound()
  await startGateway(t, { beside: first })
  const [reply] = (await once(upload.end(FILE_BYTES.subarray(4)), 'response')) as [IncomingMessage]
  assert.equal(reply.resume().statusCode, 200)
})

type PostedMessage = { url: string; headers: Record<string, string>; body: Buffer }

const senderOf = (gateway: Gateway, posted: (message: PostedMessage) => void) =>
  webhookSender(gateway, {
    post: async (url, { headers, body }) => {
      posted({ url, headers, body })
      return { status: 200, retryAfter: undefined }
    },
    attemptsMax: 64,
    hostAttemptsMax: 64,
  })

test('keys are replaced while requests and webhooks are in progress', async (t) => {
  const newKey = () => randomBytes(32).toString('base64url')
  const [oldKeys, nextKeys] = [
    [newKey(), newKey()],
    [newKey(), newKey()],
  ] as const
  const first = await startGateway(t, {
    database: 'postgres',
    signingKeys: [oldKeys[0]],
    encryptionKeys: [oldKeys[1]],
  })
  const restart = async (use: 'old, next' | 'next, old' | 'next') => {
    const keysOf = (i: 0 | 1): Keys =>
      use === 'old, next'
        ? [oldKeys[i], nextKeys[i]]
        : use === 'next, old'
          ? [nextKeys[i], oldKeys[i]]
          : [nextKeys[i]]
    const keys = { signingKeys: keysOf(0), encryptionKeys: keysOf(1) }
    const gateway = await startGateway(t, { beside: first, ...keys })
    return withKey(gateway, first.key, first.accountId)
  }
  /**
   * Submits on one gateway; another takes the upload, repeats the response and sends the webhook.
   */
  const passFrom = async (one: Gateway, other: Gateway, name: string) => {
    const created = (await one.call('POST', '/v1/files', { body: createFileBody() })).json()
    const uploaded = await other.call('PUT', created.upload_url, { body: FILE_BYTES })
    assert.equal(uploaded.statusCode, 200, `${name}: ${uploaded.body}`)
    const submission = {
      body: {
        input: { prompt: 'a bell', file_id: created.file_id },
        webhookUrl: 'https://hooks.example/',
      },
      headers: { 'idempotency-key': name },
    }
    const submitted = await one.call('POST', SUBMIT, submission)
    assert.equal(submitted.statusCode, 202, submitted.body)
    assert.equal((await other.call('POST', SUBMIT, submission)).body, submitted.body, name)
    const { request_id: requestId, webhook } = submitted.json()
    await one.event('started', requestId)
    await other.event('failed', requestId)
    const posted: PostedMessage[] = []
    const sender = senderOf(other, (message) => posted.push(message))
    await sender.startDue()
    await sender.idle()
    assert.equal(posted.length, 1, `${name}: the webhook can be signed`)
    const { headers, body } = posted[0]!
    const at = new Date(1_000 * Number(headers['webhook-timestamp']))
    const signature = new Webhook(webhook.signing_secret).sign(headers['webhook-id']!, at, body)
    assert.equal(headers['webhook-signature'], signature, name)
  }
  const stages = [
    first,
    await restart('old, next'),
    await restart('next, old'),
    await restart('next'),
  ] as const
  for (const [i, one] of stages.entries()) {
    // Gateways are at most one step apart.
    for (const other of stages.slice(Math.max(0, i - 1), i + 2)) {
      await passFrom(one, other, `${i}-${stages.indexOf(other)}`)
    }
  }
})

type LedgerMove = { does: 'credit' | 'reserve' | 'deduct' | 'release'; of: number; seconds: number }

const ledgerMoves: fc.Arbitrary<LedgerMove[]> = fc.array(
  fc.record({
    does: fc.constantFrom('credit', 'reserve', 'deduct', 'release'),
    of: fc.integer({ min: 0, max: 5 }), // so few that many moves share a reference
    seconds: fc.integer({ min: 0, max: 20 }),
  }),
  { minLength: 2, maxLength: 8 },
)

const MOVES = { credit, reserve, deduct }

test('property: whatever two gateways enter at once, entries add up to the balance without duplicates', async (t) => {
  const gateways = await startTwo(t)
  const now = '2026-01-02T03:04:05.678Z'
  let runs = 0
  await fc.assert(
    fc.asyncProperty(ledgerMoves, async (moves) => {
      const accountId = `property-${(runs += 1)}`
      const account = { account_id: accountId, name: 'x', created_at: now }
      await ensureAccount(gateways[0].store, account)
      const enter = (store: Store, { does, of, seconds }: LedgerMove) => {
        // A reference can be credited only with one amount, so each amount gets its own.
        const reference = `${accountId}-${of}${does === 'credit' ? `-${seconds}` : ''}`
        if (does === 'release') return releaseReservation(store, reference, now)
        return MOVES[does](store, { accountId, reference, seconds, now })
      }
      // Makes each move on both gateways, two per transaction in opposite orders, so deadlocks are
      // likely.
      await atOnce(gateways, moves.length, async ({ store }, i) => {
        const pair = [moves[i]!, moves[(i + 1) % moves.length]!]
        if (store === gateways[1].store) pair.reverse()
        await inTransaction(store, async (store) => {
          for (const move of pair) await enter(store, move)
        })
      })
      await assertSound(gateways[0].store, accountId)
      const { balance_seconds: balance } = (await findAccount(gateways[0].store, accountId))!
      assert.ok(Number.isInteger(balance))
    }),
    { numRuns: 12 },
  )
})
