/** The permissions of the users in ops/nats-cluster.conf, on real servers that run with that file. */

import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import test, { before, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect, type NatsConnection } from '@nats-io/transport-node'
import { natsUsers } from '../../scripts/cli/start/nats-users.ts'
import { connectBroker, type DeadLetter } from '../../shared/broker/broker.ts'
import type { Event, Job } from '../../shared/messages.ts'
import { makeJob } from '../support/engine/job-parts.ts'
import { DEFAULT_OPTIONS } from '../../shared/separation-options.ts'
import { createLogger } from '../../shared/telemetry/log.ts'
import { startCluster, type Cluster } from '../support/broker/start-cluster.ts'

let cluster: Cluster
before(async (t) => {
  cluster = await startCluster(t as TestContext)
})

const AT = '2026-01-02T03:04:05.678Z'

const jobOf = (requestId: string, separator?: string): Job =>
  makeJob(requestId, '', {
    options: { ...DEFAULT_OPTIONS, ...(separator !== undefined && { separator }) },
  })

const started = (attemptId: string): Event => ({
  type: 'started',
  request_id: 'r1',
  attempt_id: attemptId,
  engine_id: 'e',
  at: AT,
  logs: [],
})

interface Role {
  isEngine?: boolean
  waitMsMax?: number
}

async function connectAs(
  t: TestContext,
  { url, engineUrl, caFile }: Cluster,
  { isEngine = false, waitMsMax = 30_000 }: Role = {},
) {
  const broker = await connectBroker({
    address: { url: isEngine ? engineUrl : url, caFile, replicas: 3 },
    name: 'test',
    leaseSeconds: 30,
    log: createLogger('test', 'silent'),
    isEngine,
    waitMsMax,
  })
  t.after(() => broker.close())
  return broker
}

/** Connects without any filter; collects the subjects that the server refuses. */
async function connectRaw(t: TestContext, address: string, caFile: string) {
  const servers = address.split(',').map((server) => new URL(server))
  const { username: user, password: pass } = servers[0]!
  const connection = await connect({
    servers: servers.map(({ host }) => host),
    user,
    pass,
    tls: { caFile },
    inboxPrefix: '_INBOX_ENGINE',
  })
  t.after(() => connection.close())
  const refused = new Set<string>()
  void (async () => {
    for await (const status of connection.status()) {
      const [, subject] =
        /Permissions Violation for \w+ to "([^"]+)"/.exec(String(Object.values(status))) ?? []
      if (subject !== undefined) refused.add(subject)
    }
  })()
  return { connection, refused }
}

/** Resolves once the server has processed everything sent and reported what it refused. */
const untilProcessed = async (connection: NatsConnection) => {
  await connection.flush()
  await new Promise(setImmediate)
}

test('ops/nats-cluster.conf has the users that npm start gives its broker', async () => {
  const text = await readFile(new URL('../../ops/nats-cluster.conf', import.meta.url), 'utf8')
  const users = natsUsers({ gateway: 'GATEWAY_PASSWORD', engine: 'ENGINE_PASSWORD' })
  assert.ok(text.includes(users.join('\n')), 'npm start gives others')
})

test('an engine waits for the streams of a gateway, then leases, reports and acknowledges', async (t) => {
  const refusal = () =>
    connectAs(t, cluster, { isEngine: true, waitMsMax: 1_000 }).then(
      () => assert.fail('it connected'),
      ({ message }: Error) => message,
    )
  let message = await refusal()
  while (/no broker answers/.test(message)) message = await refusal() // while it elects its leaders
  assert.match(
    message,
    /^NATS_URL: the broker has no streams of Winnow yet, after 1 s\. Start a ga/,
  )
  const gateway = await connectAs(t, cluster)
  const engine = await connectAs(t, cluster, { isEngine: true })
  const events: string[] = []
  const letters: DeadLetter[] = []
  const received: unknown[] = []
  let wake = () => {}
  const until = async (isThere: () => boolean) => {
    while (!isThere()) await new Promise<void>((resolve) => (wake = resolve))
  }
  const collectInto =
    <T>(list: T[]) =>
    async (value: T) => {
      list.push(value)
      wake()
    }
  const noteEvent = collectInto(events)
  t.after(await gateway.followEvents(({ attempt_id }) => noteEvent(attempt_id)))
  t.after(await gateway.followDeadLetters(collectInto(letters)))
  t.after(gateway.followProgress(collectInto(received)))
  t.after(gateway.followAnnouncements(collectInto(received)))

  assert.equal(await engine.leaseJob(1_000, 'first', 'htdemucs'), null, 'nobody has named it yet')
  const sequence = await gateway.publishJob(jobOf('r1'), 'r1')
  await gateway.publishJob(jobOf('r2', 'htdemucs'), 'r2')
  const lease = await engine.leaseJob(5_000)
  assert.equal(lease?.job.request_id, 'r1')
  lease.heartbeat()
  lease.nak(0)
  const again = await engine.leaseJob(5_000)
  assert.equal(again?.deliveries, 2)
  await engine.publishEvent(started(again.attemptId))
  await until(() => events.length === 1)
  assert.deepEqual(events, [again.attemptId])
  await again.ack()
  // An acknowledged job leaves a replicated stream a moment after the acknowledgment is answered.
  while (await gateway.hasJob('r1', sequence)) await sleep(20)
  const named = await engine.leaseJob(5_000, 'first', 'htdemucs')
  assert.equal(named?.job.request_id, 'r2')
  await named.ack()
  const third = await gateway.publishJob(jobOf('r3'), 'r3')
  assert.equal(await gateway.removeJob('r3', third), true)

  const progress = { request_id: 'r1', attempt_id: 'a', at: AT, progress: 0.5 }
  const announcement = { engine_id: 'e', control_address: '127.0.0.1:1' }
  engine.publishProgress(progress)
  engine.announceEngine(announcement)
  await until(() => received.length === 2)
  assert.deepEqual(received, [progress, announcement])
  await engine.publishEvent({ ...started('bad'), engine_id: 'x"\r\n' })
  await until(() => letters.length === 1)
  assert.equal(letters[0]!.attempt_id, 'bad')
})

const ENGINES_MAY_NOT_PUBLISH = [
  'jobs.separate',
  'jobs.named.first.htdemucs',
  'dead.JOBS',
  'requests.changed',
  'anything',
  '$JS.API.STREAM.CREATE.MINE',
  '$JS.API.STREAM.UPDATE.JOBS',
  '$JS.API.STREAM.DELETE.JOBS',
  '$JS.API.STREAM.PURGE.JOBS',
  '$JS.API.STREAM.LIST',
  '$JS.API.STREAM.MSG.GET.JOBS',
  '$JS.API.STREAM.MSG.DELETE.JOBS',
  '$JS.API.CONSUMER.CREATE.JOBS.engines',
  '$JS.API.CONSUMER.CREATE.JOBS.mine.jobs.named.first.x',
  '$JS.API.CONSUMER.DURABLE.CREATE.JOBS.mine',
  '$JS.API.CONSUMER.DELETE.JOBS.engines',
  '$JS.API.CONSUMER.MSG.NEXT.EVENTS.gateway',
  '$JS.ACK.EVENTS.gateway.1.1.1.1.0',
]
const ENGINES_MAY_NOT_READ = ['>', '_INBOX.>', 'events', 'jobs.>', 'progress', 'requests.changed']
const GATEWAYS_MAY_NOT_PUBLISH = [
  'events',
  'progress',
  'engines.hello',
  'anything',
  '$JS.API.STREAM.DELETE.JOBS',
  '$JS.API.STREAM.PURGE.JOBS',
  '$JS.API.CONSUMER.DELETE.JOBS.engines',
]

test('everything else is refused to engines and gateways', async (t) => {
  await connectAs(t, cluster)
  const { url, engineUrl } = cluster
  for (const swapped of [
    { ...cluster, engineUrl: url },
    { ...cluster, url: engineUrl },
  ]) {
    await assert.rejects(connectAs(t, swapped, { isEngine: swapped.engineUrl === url }), {
      name: 'StartError',
      message:
        /^NATS_URL: the user lacks permissions .* Name the user that ops\/nats-cluster\.conf has/,
    })
  }
  const { connection, refused } = await connectRaw(t, cluster.engineUrl, cluster.caFile)
  for (const subject of ENGINES_MAY_NOT_PUBLISH) connection.publish(subject, '{}')
  for (const subject of ENGINES_MAY_NOT_READ) connection.subscribe(subject, { callback: () => {} })
  await untilProcessed(connection)
  const all = [...ENGINES_MAY_NOT_PUBLISH, ...ENGINES_MAY_NOT_READ]
  assert.deepEqual(
    all.filter((subject) => !refused.has(subject)),
    [],
  )
  const gateway = await connectRaw(t, cluster.url, cluster.caFile)
  for (const subject of GATEWAYS_MAY_NOT_PUBLISH) gateway.connection.publish(subject, '{}')
  await untilProcessed(gateway.connection)
  assert.deepEqual(
    GATEWAYS_MAY_NOT_PUBLISH.filter((subject) => !gateway.refused.has(subject)),
    [],
  )
})
