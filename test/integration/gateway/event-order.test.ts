/** Two gateways with one PostgreSQL and one nats-server get events in any order and form. */

import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createDeadLetterHandler } from '../../../gateway/requests/follow/dead-letters.ts'
import { createEventHandler } from '../../../gateway/requests/follow/event-follower.ts'
import { startNatsServer } from '../../../scripts/cli/start/nats-server.ts'
import { connectBroker } from '../../../shared/broker/broker.ts'
import type { Event } from '../../../shared/messages.ts'
import { createLogger } from '../../../shared/telemetry/log.ts'
import { startGateway, type Gateway } from '../../support/gateway/start-gateway.ts'

const URL_INPUT = { audio_url: 'https://media.example/x.wav' }
/** Requests for each order: enough for each gateway to get both events of some. */
const ROUNDS = 8

/** Starts two gateways that follow the broker, and a connection that publishes as engines do. */
async function startFollowing(t: TestContext) {
  const folder = await mkdtemp(join(tmpdir(), 'event-order-'))
  const nats = await startNatsServer({ folder })
  const closing: (() => Promise<void>)[] = []
  t.after(async () => {
    for (const close of closing) await close()
    nats.process.kill('SIGKILL')
    await rm(folder, { recursive: true, force: true, maxRetries: 5 })
  })
  const connect = async () => {
    const log = createLogger('test', 'silent')
    const options = { address: { url: nats.url }, name: 'test', leaseSeconds: 30, log }
    const broker = await connectBroker(options)
    closing.push(() => broker.close())
    return broker
  }
  const first = await startGateway(t, { database: 'postgres' })
  const second = await startGateway(t, { beside: first })
  let [published, handled] = [0, 0]
  let isDone = () => {}
  for (const { deps } of [first, second]) {
    const handle = createEventHandler(deps)
    const broker = await connect()
    const stop = await broker.followEvents(async (event) => {
      await handle(event)
      handled += 1
      isDone()
    })
    const stopLetters = await broker.followDeadLetters(createDeadLetterHandler(deps))
    closing.unshift(stop, stopLetters)
  }
  const engine = await connect()
  /** Resolves once everything published has been applied. */
  const publish = async (events: readonly Event[]) => {
    published += events.length
    const done = new Promise<void>((resolve) => {
      isDone = () => handled === published && resolve()
    })
    await Promise.all(events.map((event) => engine.publishEvent(event)))
    await done
  }
  return { first, publish, engine }
}

type Type = 'started' | 'failed' | 'released' | 'measured' | 'completed'

const STORED = { content_type: 'audio/wav', extension: 'wav', bytes: 4 }
const REPORTS: Record<Type, object> = {
  started: {},
  measured: { duration: 4 },
  released: { cause: 'drain' },
  failed: { error: { code: 'MODEL_FAILED', message: 'The model failed.' } },
  completed: { duration: 4, sample_rate: 48_000, outputs: { target: STORED, residual: STORED } },
}

/** @param startSeconds start of the attempt, in seconds after that of the first */
const eventOf = (type: Type, requestId: string, attempt: string, startSeconds = 0): Event => {
  const startedAt = new Date(
    Date.parse('2026-01-02T03:04:00.000Z') + 1_000 * startSeconds,
  ).toISOString()
  return {
    type,
    request_id: requestId,
    attempt_id: `${requestId}-${attempt}`,
    engine_id: `engine-of-${attempt}`,
    at: startedAt,
    started_at: startedAt,
    logs: [],
    ...REPORTS[type],
  } as Event
}

const rowOf = ({ store }: Gateway, requestId: string) =>
  store
    .selectFrom('requests')
    .select(['status', 'attempts', 'engine_id', 'interruptions', 'error_code'])
    .where('request_id', '=', requestId)
    .executeTakeFirstOrThrow()

test('all events of an attempt that are published together are applied, in either order', async (t) => {
  const { first, publish } = await startFollowing(t)
  const released: string[] = []
  const ends = { failed: 'FAILED', released: 'IN_QUEUE', completed: 'COMPLETED' } as const
  for (const [end, status] of Object.entries(ends)) {
    for (const types of [
      ['started', end],
      [end, 'started'],
    ] as Type[][]) {
      const ids = await Promise.all(
        Array.from({ length: ROUNDS }, () => first.submitted(URL_INPUT)),
      )
      if (end === 'released') released.push(...ids)
      await publish(ids.flatMap((id) => types.map((type) => eventOf(type, id, 'a'))))
      for (const id of ids) {
        const row = await rowOf(first, id)
        assert.equal(row.status, status, types.join(', '))
        assert.deepEqual([row.attempts, row.engine_id], [1, 'engine-of-a'], types.join(', '))
      }
    }
  }
  await first.publish()
  const jobs = [...first.broker.jobs.values()].map((job) => job.request_id)
  for (const id of released) assert.equal(jobs.filter((each) => each === id).length, 2, 'a new job')
})

test('an invalid outcome is refused, and fails its request once, without cost', async (t) => {
  const { first, publish, engine } = await startFollowing(t)
  const body = { webhookUrl: 'https://hooks.example/' }
  const id = await first.submitted(URL_INPUT, body)
  const hostile = { ...STORED, extension: '../../../x"\r\n' }
  const completed = eventOf('completed', id, 'a') as Extract<Event, { type: 'completed' }>
  await publish([eventOf('started', id, 'a')])
  await engine.publishEvent({ ...completed, outputs: { target: hostile, residual: STORED } })
  while ((await rowOf(first, id)).status === 'IN_PROGRESS') await sleep(20)
  const { status, error_code: code } = await rowOf(first, id)
  assert.deepEqual([status, code], ['FAILED', 'ENGINE_LOST'])
  await publish([eventOf('completed', id, 'b', 60)]) // comes too late
  assert.equal((await rowOf(first, id)).status, 'FAILED')
  const deliveries = await first.store.selectFrom('deliveries').select('webhook_id').execute()
  assert.equal(deliveries.length, 1)
})
