/** The broker on a real nats-server: everything that gateway and engine rely on. */

import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import test, { before, type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { jetstream, jetstreamManager } from '@nats-io/jetstream'
import { connect } from '@nats-io/transport-node'
import { pino } from 'pino'
import { setTimeout as sleep } from 'node:timers/promises'
import { startNatsServer } from '../../scripts/cli/start/nats-server.ts'
import { connectServer } from '../../shared/broker/connection.ts'
import { EVENTS, JOBS } from '../../shared/broker/streams.ts'
import { connectBroker, type DeadLetter } from '../../shared/broker/broker.ts'
import { createLogger } from '../../shared/telemetry/log.ts'
import { Intake } from '../../engine/intake.ts'
import type { Event, Job } from '../../shared/messages.ts'
import { makeJob } from '../support/engine/job-parts.ts'
import { freePorts } from '../support/processes/free-ports.ts'
import { startCluster } from '../support/broker/start-cluster.ts'

const log = createLogger('test', 'silent')
const BINARY = fileURLToPath(new URL('../../.runtime/nats-server/nats-server', import.meta.url))

const AT = '2026-01-02T03:04:05.678Z'

const job = (requestId: string): Job => makeJob(requestId)

const event = (attemptId: string, type: 'started' | 'released' = 'started'): Event => ({
  type,
  request_id: 'r',
  attempt_id: attemptId,
  engine_id: 'e',
  at: AT,
  logs: [],
  cause: 'drain',
})

type User = { close(): Promise<void> }

/** Closes a test's connections to a server before it calls `end`. */
function usersOf(t: Pick<TestContext, 'after'>, end = async () => {}) {
  const users: User[] = []
  t.after(async () => {
    for (const user of users) await user.close()
    await end()
  })
  return { closeFirst: (user: User) => void users.push(user) }
}

/** Starts a server that ends with the test. */
async function startOwnServer(t: Pick<TestContext, 'after'>) {
  const folder = await mkdtemp(join(tmpdir(), 'winnow-nats-'))
  const server = await startNatsServer({ folder })
  const users = usersOf(t, async () => {
    server.process.kill('SIGKILL')
    await rm(folder, { recursive: true, force: true, maxRetries: 5 })
  })
  return { ...server, ...users, folder }
}

let common: Awaited<ReturnType<typeof startOwnServer>>
before(async (t) => {
  common = await startOwnServer(t as TestContext)
})

/** Returns this file's shared server as after its first start, without streams. */
async function startServer(t: Pick<TestContext, 'after'>) {
  const { host, username: token } = new URL(common.url)
  const connection = await connect({ servers: host, token })
  const { streams } = await jetstreamManager(connection)
  for await (const { config } of streams.list()) await streams.delete(config.name)
  await connection.close()
  return { ...common, ...usersOf(t) }
}

type Server = Awaited<ReturnType<typeof startServer>>

async function connectTo({ url, closeFirst }: Server, leaseSeconds = 30) {
  const broker = await connectBroker({ address: { url }, name: 'test', leaseSeconds, log })
  closeFirst(broker)
  return broker
}

const start = async (t: TestContext, leaseSeconds = 30) =>
  connectTo(await startServer(t), leaseSeconds)

/** Inspects the server itself: its streams, their updates, and a client that can publish anything. */
async function inspect({ url, closeFirst }: Server) {
  const { host, username: token } = new URL(url)
  const connection = await connect({ servers: host, token })
  closeFirst(connection)
  const manager = await jetstreamManager(connection)
  const updates: string[] = []
  connection.subscribe('$JS.API.STREAM.UPDATE.*', {
    callback: (_, { subject }) => void updates.push(subject.split('.').at(-1) ?? ''),
  })
  /** Returns the streams updated so far. */
  const updated = async () => {
    await connection.flush() // answered after everything delivered before it
    return updates
  }
  await connection.flush()
  const stored = async (stream: string) => (await manager.streams.info(stream)).state.messages
  return { manager, stored, updated, client: jetstream(connection) }
}

const whenTrue = async (isTrue: () => Promise<boolean>) => {
  while (!(await isTrue())) await new Promise((resolve) => setTimeout(resolve, 20))
}

/** Collects values with `take`; `all` resolves with the first `count` of them. */
function collect<T>(count: number) {
  const collected: T[] = []
  let done: (values: T[]) => void
  const all = new Promise<T[]>((resolve) => {
    done = resolve
  })
  return {
    all,
    take: (value: T) => {
      if (collected.push(value) === count) done(collected)
    },
  }
}

test('gateways and engines can create the streams at the same time', async (t) => {
  for (let i = 0; i < 5; i += 1) {
    const server = await startServer(t)
    const connect = (installation?: string) =>
      connectBroker({
        address: { url: server.url },
        name: 'test',
        leaseSeconds: 30,
        log,
        ...(installation && { installation }),
      })
    const brokers = await Promise.all([connect(), connect('inst_1'), connect(), connect('inst_1')])
    for (const broker of brokers) server.closeFirst(broker)
    await assert.rejects(
      connect('inst_2'),
      /carries the jobs of installation inst_1, but .* inst_2/,
    )
  }
})

test('a start changes no correct stream, because that could undo a concurrent change', async (t) => {
  const server = await startServer(t)
  const { manager, updated } = await inspect(server)
  await connectTo(server)
  assert.deepEqual(await updated(), [])
  await manager.streams.update('JOBS', { subjects: ['jobs.separate'] })
  await connectTo(server)
  await connectTo(server)
  assert.deepEqual(await updated(), ['JOBS', 'JOBS'])
})

test('a job is stored once however often it is published, leased once, and removed by its ack', async (t) => {
  const broker = await start(t)
  const sequence = await broker.publishJob(job('r1'), 'r1')
  assert.equal(await broker.publishJob(job('r1'), 'r1'), sequence)
  const lease = await broker.leaseJob(2_000)
  assert.equal(lease?.job.request_id, 'r1')
  assert.equal(await broker.leaseJob(1_000), null)
  await lease?.ack()
  assert.equal(await broker.hasJob('r1', sequence), false)
})

test('without heartbeats a lease lapses, and those of any holder extend the lease that replaced it', async (t) => {
  const broker = await start(t, 1)
  const sequence = await broker.publishJob(job('r1'), 'r1')
  const first = await broker.leaseJob(2_000)
  const second = await broker.leaseJob(10_000)
  assert.deepEqual([first?.deliveries, second?.deliveries], [1, 2])
  assert.notEqual(first?.attemptId, second?.attemptId)
  const beat = setInterval(() => first?.heartbeat(), 200)
  t.after(() => clearInterval(beat))
  assert.equal(await broker.leaseJob(3_000), null)
  await first?.ack()
  assert.equal(await broker.hasJob('r1', sequence), false)
})

/** Returns a job that names its model. */
const jobForModel = (requestId: string, separator: string): Job => {
  const plain = job(requestId)
  return { ...plain, options: { ...plain.options, separator } }
}

test('a job that names a model is leased for that model alone', async (t) => {
  const broker = await start(t)
  const sequence = await broker.publishJob(jobForModel('r1', 'ht.6s'), 'r1')
  await broker.publishJob(jobForModel('r2', 'ht.6s'), 'r2', 'further')
  assert.equal(await broker.leaseJob(1_000), null)
  assert.equal(await broker.leaseJob(1_000, 'first', 'ht'), null)
  assert.equal(await broker.leaseJob(1_000, 'first', 'mini'), null)
  const lease = await broker.leaseJob(2_000, 'first', 'ht.6s')
  assert.equal(lease?.job.request_id, 'r1')
  assert.equal((await broker.leaseJob(2_000, 'further', 'ht.6s'))?.job.request_id, 'r2')
  assert.equal(await broker.hasJob('r1', sequence), true)
  await lease?.ack()
  assert.equal(await broker.hasJob('r1', sequence), false)
})

test('jobs in queues that 0.4.0 lacks survive a start of that version', async (t) => {
  const server = await startServer(t)
  const broker = await connectTo(server)
  const { manager } = await inspect(server)
  await broker.publishJob(job('r1'), 'r1', 'short')
  const subjects = ['jobs.separate', 'jobs.further', 'jobs.named.>']
  await manager.streams.update('JOBS', { subjects })
  await broker.publishJob(job('r2'), 'r2', 'short')
  for (const id of ['r1', 'r2']) {
    assert.equal((await broker.leaseJob(2_000, 'short'))?.job.request_id, id)
  }
})

test('each job queue is leased separately, and a duplicate is stored in none', async (t) => {
  const broker = await start(t)
  const sequence = await broker.publishJob(job('r1'), 'r1', 'further')
  assert.equal(await broker.publishJob(job('r1'), 'r1', 'first'), sequence)
  await broker.publishJob(job('r2'), 'r2', 'short')
  await broker.publishJob(job('r3'), 'r3', 'short-further')
  assert.equal(await broker.leaseJob(1_000), null)
  const lease = await broker.leaseJob(2_000, 'further')
  assert.equal(lease?.job.request_id, 'r1')
  await lease?.ack()
  assert.equal(await broker.hasJob('r1', sequence), false)
  assert.equal((await broker.leaseJob(2_000, 'short'))?.job.request_id, 'r2')
  assert.equal((await broker.leaseJob(2_000, 'short-further'))?.job.request_id, 'r3')
})

test('an engine with as many long jobs as it may hold still leases a short one at once', async (t) => {
  const broker = await start(t)
  const startedJobs = new Set<string>()
  const intake = new Intake({
    broker,
    modelNames: () => [],
    jobsMax: 8,
    leaseSeconds: 30,
    jobSecondsMax: 600,
    outage: () => null,
    separate: ({ job }, signal) =>
      new Promise((resolve) => {
        startedJobs.add(job.request_id)
        signal.addEventListener('abort', () => resolve('released'))
      }),
    log,
  })
  const untilBegun = async (count: number) => {
    while (startedJobs.size < count) await sleep(10)
  }
  for (const queue of ['first', 'further'] as const) {
    for (let i = 0; i < 8; i += 1) {
      await broker.publishJob(job(`${queue} ${i}`), `${queue} ${i}`, queue)
    }
  }
  intake.start()
  await untilBegun(4) // half of the engine's slots
  await broker.publishJob(job('short 1'), 'short 1', 'short')
  await broker.publishJob(job('short 2'), 'short 2', 'short-further')
  await untilBegun(6)
  const names = [...startedJobs].map((name) => name.split(' ')[0])
  assert.ok(names.filter((name) => name === 'further').length <= 2, names.join(', '))
  assert.deepEqual(names.slice(4).sort(), ['short', 'short'])
  assert.deepEqual(await intake.drain(0), { finished: 0, released: 6 })
})

test('a job is removed for its own request alone, once, and is then never leased', async (t) => {
  const broker = await start(t)
  const sequence = await broker.publishJob(job('r2'), 'r2')
  // Once the broker has lost its streams, an old sequence may be that of another job.
  assert.equal(await broker.hasJob('r1', sequence), false)
  assert.equal(await broker.removeJob('r1', sequence), false)
  assert.equal(await broker.hasJob('r2', sequence), true)
  assert.equal(await broker.removeJob('r2', sequence), true)
  assert.equal(await broker.removeJob('r2', sequence), false)
  assert.equal(await broker.leaseJob(1_000), null)
})

test('a loss of the streams also reaches a later follower, but only one', async (t) => {
  const server = await startServer(t)
  const broker = await connectTo(server)
  const { manager } = await inspect(server)
  await broker.publishJob(job('r1'), 'r1')
  await Promise.all([JOBS, EVENTS].map(({ stream }) => manager.streams.delete(stream)))
  await broker.publishJob(job('r2'), 'r2') // recreates the streams
  let losses = 0
  broker.followLosses(() => (losses += 1))
  assert.equal(losses, 1)
  broker.followLosses(() => (losses += 1))
  assert.equal(losses, 1, 'what was handled is not handled again')
})

test('a job released too often becomes a dead letter, and leaves the queue', async (t) => {
  const broker = await start(t)
  const letters = collect<DeadLetter>(1)
  t.after(await broker.followDeadLetters(async (each) => letters.take(each)))
  const sequence = await broker.publishJob(job('r1'), 'r1')
  for (let deliveries = 1; deliveries <= 6; deliveries += 1) {
    const lease = await broker.leaseJob(5_000)
    assert.equal(lease?.deliveries, deliveries)
    lease?.nak(0)
  }
  assert.equal(await broker.leaseJob(1_000), null)
  assert.deepEqual(await letters.all, [{ request_id: 'r1', stream: 'JOBS', sequence }])
  await whenTrue(async () => !(await broker.hasJob('r1', sequence)))
})

test('a job that no engine understands becomes a dead letter, in full', async (t) => {
  const server = await startServer(t)
  const broker = await connectTo(server)
  const { manager, client, stored } = await inspect(server)
  await manager.consumers.update('JOBS', 'engines', { max_deliver: 1 }) // sooner than by default
  const letters = collect<DeadLetter>(2)
  t.after(await broker.followDeadLetters(async (each) => letters.take(each)))
  await client.publish('jobs.separate', JSON.stringify({ request_id: 'r1', prompt: 1 }))
  await client.publish('jobs.separate', 'not JSON')
  await broker.publishJob(job('r2'), 'r2')
  let lease
  do lease = await broker.leaseJob(1_000)
  while (lease === null) // after the two, however many pulls those take
  assert.equal(lease.job.request_id, 'r2')
  await lease.ack()
  let done = false
  const pulling = whenTrue(async () => (await broker.leaseJob(1_000), done)) // the server only checks when pulled from
  const collected = await letters.all
  done = true
  await pulling
  assert.deepEqual(
    collected.sort((a, b) => a.sequence - b.sequence),
    [
      { request_id: 'r1', stream: 'JOBS', sequence: 1 },
      { stream: 'JOBS', sequence: 2 },
    ],
  )
  await whenTrue(async () => (await stored('JOBS')) === 0)
  const letter = await manager.streams.getMessage('DEAD_LETTERS', { last_by_subj: 'dead.JOBS' })
  assert.ok(['not JSON', '{"request_id":"r1","prompt":1}'].includes(letter?.string() ?? ''))
  assert.equal(await stored('DEAD_LETTERS'), 2)
})

test('an event that can never be handled becomes a dead letter, in full', async (t) => {
  const server = await startServer(t)
  const broker = await connectTo(server)
  const { manager, stored } = await inspect(server)
  await manager.consumers.update('EVENTS', 'gateway', { max_deliver: 2 }) // sooner than by default
  const letters = collect<DeadLetter>(1)
  t.after(await broker.followDeadLetters(async (each) => letters.take(each)))
  let attempts = 0
  t.after(
    await broker.followEvents(async () => {
      attempts += 1
      throw new RangeError('Maximum call stack size exceeded')
    }),
  )
  await broker.publishEvent(event('a1'))
  assert.deepEqual(await letters.all, [
    { request_id: 'r', attempt_id: 'a1', type: 'started', stream: 'EVENTS', sequence: 1 },
  ])
  assert.equal(attempts, 2)
  await whenTrue(async () => (await stored('EVENTS')) === 0)
  const letter = await manager.streams.getMessage('DEAD_LETTERS', { last_by_subj: 'dead.EVENTS' })
  assert.deepEqual(letter?.json(), event('a1'))
})

test('every consumer limits deliveries, also after an update', async (t) => {
  const server = await startServer(t)
  const { manager } = await inspect(server)
  await connectTo(server, 2)
  await connectTo(server, 3) // with another lease length
  let consumers = 0
  for await (const {
    config: { name: stream },
  } of manager.streams.list()) {
    for await (const { config } of manager.consumers.list(stream)) {
      consumers += 1
      assert.ok(config.max_deliver! > 1, `${stream} ${config.durable_name}`)
      assert.equal(config.max_ack_pending, -1, `${stream} ${config.durable_name}`)
    }
  }
  assert.equal(consumers, 8)
})

test('events arrive once and in order; one whose handling fails is redelivered', async (t) => {
  const broker = await start(t)
  const events = collect<string>(4)
  let failures = 1
  const stop = await broker.followEvents(async ({ attempt_id: attemptId, type }) => {
    events.take(`${attemptId} ${type}`)
    if (attemptId === 'a2' && failures-- > 0) throw new Error('the database is locked')
  })
  t.after(stop)
  for (const each of [event('a1'), event('a1'), event('a1', 'released'), event('a2')]) {
    await broker.publishEvent(each)
  }
  assert.deepEqual(await events.all, ['a1 started', 'a1 released', 'a2 started', 'a2 started'])
})

test('a slow event delays no other, and stopping waits for it', async (t) => {
  const broker = await start(t)
  const fast = collect<string>(1)
  const handled: string[] = []
  let end = () => {}
  const slow = new Promise<void>((resolve) => (end = resolve))
  const stop = await broker.followEvents(async ({ attempt_id: attemptId }) => {
    if (attemptId === 'a1') await slow
    else fast.take(attemptId)
    handled.push(attemptId)
  })
  t.after(stop)
  for (const attemptId of ['a1', 'a2']) await broker.publishEvent(event(attemptId))
  await fast.all
  const stopped = stop()
  end()
  await stopped
  assert.deepEqual(handled, ['a2', 'a1'])
})

test('a changed request is published to other gateways, and not to its publisher', async (t) => {
  const server = await startServer(t)
  const [one, other] = [await connectTo(server), await connectTo(server)]
  const received: string[] = []
  t.after(one.followChanges((requestId) => received.push(`one ${requestId}`)))
  t.after(other.followChanges((requestId) => received.push(`other ${requestId}`)))
  await whenTrue(async () => {
    one.publishChange('a') // lost until the server has both subscriptions
    return received.length > 3
  })
  assert.deepEqual([...new Set(received)], ['other a'])
})

/** Returns a log, its lines, and a function that waits for the first line. */
function createAwaitableLog() {
  const lines: string[] = []
  let arrived = () => {}
  const write = (line: string) => {
    lines.push(line)
    arrived()
  }
  const first = async () => {
    while (lines.length === 0)
      await new Promise<void>((resolve) => {
        arrived = resolve
      })
  }
  return { lines, first, log: pino({ level: 'info' }, { write }) }
}

test('a client waits for a broker that starts later, and logs that once', async (t) => {
  const { url, process: server, folder } = await startOwnServer(t)
  const gone = new Promise((resolve) => server.once('exit', resolve))
  server.kill('SIGKILL')
  await gone
  const { lines, first, log } = createAwaitableLog()
  const connecting = connectServer({ address: { url }, name: 'test', leaseSeconds: 30, log })
  await first()
  await new Promise((resolve) => setTimeout(resolve, 1_000))
  const { port, username: token } = new URL(url)
  const again = await startNatsServer({ folder, port: Number(port), token })
  t.after(() => again.process.kill('SIGKILL'))
  await (await connecting).connection.close()
  assert.equal(lines.length, 1)
  assert.match(
    lines[0]!,
    /"broker":"127\.0\.0\.1:\d+","reason":"[^"]+","msg":"the broker does not answer yet/,
  )
  assert.doesNotMatch(lines.join(), new RegExp(token))
})

test('a broker that never answers or refuses is named without its password', async (t) => {
  const { url, process: server } = await startOwnServer(t)
  const { host } = new URL(url)
  const failure = (url: string) =>
    connectServer({ address: { url }, name: 'test', leaseSeconds: 30, log, waitMsMax: 300 }).then(
      () => assert.fail('it connected'),
      (error: Error) => `${error.name} ${error.message}`,
    )
  const refused = await failure(`nats://a-wrong-token@${host}`)
  assert.match(
    refused,
    new RegExp(`^StartError NATS_URL: the broker at ${host} refuses the credentials`),
  )
  const gone = new Promise((resolve) => server.once('exit', resolve))
  server.kill('SIGKILL')
  await gone
  const silent = await failure(`nats://user:a-wrong-token@${host}`)
  assert.match(silent, new RegExp(`^StartError NATS_URL: no broker answers at ${host} \\(`))
  for (const wrong of [
    'localhost:4222',
    'http://a-wrong-token@x',
    'nats://',
    'nats://a-wrong-token@x:port',
  ]) {
    assert.match(await failure(wrong), /^StartError NATS_URL must have the form nats:\/\//, wrong)
  }
  assert.doesNotMatch([refused, silent].join(), /a-wrong-token/)
})

test('wrong settings end a program with one line that names them all', async () => {
  for (const [program, env] of [
    ['gateway/main.ts', { NATS_URL: '', PORT: 'x', QUEUE_MAX: '0' }],
    ['engine/main.ts', { NATS_URL: '', JOBS_MAX: '0' }],
  ] as const) {
    const message = await failedStart(program, env)
    assert.match(message, /^The settings are not valid:\n/)
    for (const name of Object.keys(env)) {
      assert.match(message, new RegExp(`^  ${name} must be `, 'm'))
    }
  }
})

test('a broker without JetStream ends a program with one line that says so', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'winnow-plain-nats-'))
  const [port] = await freePorts(1)
  const server = spawn(BINARY, ['-a', '127.0.0.1', '-p', String(port)], { stdio: 'ignore' })
  t.after(async () => {
    server.kill('SIGKILL')
    await rm(folder, { recursive: true, force: true })
  })
  const env = { NATS_URL: `nats://127.0.0.1:${port}`, DATA_DIR: folder }
  assert.match(
    await failedStart('gateway/main.ts', env),
    /^NATS_URL: the broker at 127\.0\.0\.1:\d+ has no JetStream .*JetStream \(-js\)/,
  )
})

test('a client waits for a cluster without a leader, whatever that answers meanwhile', async (t) => {
  const cluster = await startCluster(t)
  const { lines, first, log } = createAwaitableLog()
  const address = { url: cluster.url, caFile: cluster.caFile, replicas: 3 }
  let connecting!: ReturnType<typeof connectServer>
  await cluster.restart(0, () =>
    cluster.restart(1, async () => {
      connecting = connectServer({ address, name: 'test', leaseSeconds: 30, log })
      connecting.catch(() => undefined) // awaited below
      await first()
    }),
  )
  await (await connecting).connection.close()
  assert.equal(lines.length, 1)
})

/** Returns the message of a program that exits with 1 at its start, after a single log line. */
async function failedStart(
  program: string,
  env: Readonly<Record<string, string>>,
): Promise<string> {
  const child = execFile(process.execPath, ['scripts/run.mjs', program], {
    env: { ...process.env, ...env },
    cwd: fileURLToPath(new URL('../..', import.meta.url)),
  })
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout!),
    text(child.stderr!),
    once(child, 'exit'),
  ])
  assert.equal(code, 1)
  assert.doesNotMatch(stderr, /\n\s+at /) // TensorFlow writes its own lines
  const { level, msg } = JSON.parse(stdout)
  assert.equal(level, 60)
  return msg
}

test('an unreachable broker keeps no process from ending', async (t) => {
  const { url, process: server } = await startOwnServer(t)
  const broker = await connectBroker({ address: { url }, name: 'test', leaseSeconds: 30, log })
  const stops = [
    await broker.followEvents(async () => {}),
    await broker.followDeadLetters(async () => {}),
    broker.followProgress(() => {}),
    broker.followAnnouncements(() => {}),
  ]
  server.kill('SIGKILL')
  while (broker.isConnected()) await new Promise(setImmediate)
  await Promise.all(stops.map((stop) => stop()))
  await broker.close()
})

test('a client reconnects to a broker that refused its credentials for a while', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'winnow-nats-'))
  let server = await startNatsServer({ folder })
  const { port, username: token } = new URL(server.url)
  const broker = await connectBroker({
    address: { url: server.url },
    name: 'test',
    leaseSeconds: 30,
    log,
  })
  t.after(async () => {
    await broker.close()
    server.process.kill('SIGKILL')
    await rm(folder, { recursive: true, force: true, maxRetries: 5 })
  })
  const restart = async (withToken: string) => {
    const gone = new Promise((resolve) => server.process.once('exit', resolve))
    server.process.kill('SIGKILL')
    await gone
    server = await startNatsServer({ folder, port: Number(port), token: withToken })
  }
  const refusals = async () =>
    (await readFile(join(folder, 'nats.log'), 'utf8')).split('authentication error').length - 1
  let isClosed = false
  void broker.closed().then(() => {
    isClosed = true
  })
  await restart('another')
  while ((await refusals()) < 3) {
    assert.equal(isClosed, false)
    await sleep(50)
  }
  await restart(token)
  while (!broker.isConnected()) await sleep(50)
  assert.equal(await broker.hasJob('r1', await broker.publishJob(job('r1'), 'r1')), true)
})
