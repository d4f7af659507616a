/**
 * Question: how much memory does an open status stream take, and how late is a progress event when
 * so many are open on one gateway?
 *
 * `node --import tsx bench/status-streams.ts [streams] [seconds] [interval]`: fills a database with
 * running requests, starts nats-server and a gateway on it, opens one stream for each request with
 * the given `interval` (seconds), and publishes progress on NATS, 100 a second of requests taken at
 * random. The delay is from just before the publish to the arrival at the client. Needs twice as
 * many open files as streams. One JSON line.
 */

import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { request } from 'node:http'
import { loadavg } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { openSqlite } from '../gateway/store/driver/sqlite.ts'
import { connectBroker } from '../shared/broker/broker.ts'
import { newId } from '../shared/ids.ts'
import { createLogger } from '../shared/telemetry/log.ts'
import { createScope } from '../test/support/processes/scope.ts'
import { API_KEY, startWinnow, type Winnow } from '../test/support/processes/start-winnow.ts'
import { quantile, report, round } from './report.ts'

const streams = Number(process.argv[2] ?? 2_000)
const seconds = Number(process.argv[3] ?? 20)
const interval = Number(process.argv[4] ?? 10)
const EVENTS_PER_SECOND = 100
const OPENED_AT_ONCE = 50
const ATTEMPT_ID = 'attempt-1'

/** When the last progress of a request was published, by its value. */
const published = new Map<string, number>()
const delays: number[] = []
let [events, ended] = [0, 0]

const scope = createScope()
const winnow = await startWinnow(scope, {
  engines: 0,
  env: { STREAM_WINDOW_SECONDS: '600', LOG_LEVEL: 'warn', STREAMS_MAX_PER_ACCOUNT: '1000000' },
})
const requestIds = await runningRequests(winnow, streams)
const broker = await connectBroker({
  address: { url: winnow.nats.url },
  name: 'bench',
  leaseSeconds: 2,
  log: createLogger('engine', 'silent'),
})

await openStreams(requestIds.slice(0, 100)) // what the first of all cost is no stream's own
await sleep(2_000)
const before = await residentBytes(winnow)
const openedAt = performance.now()
await openStreams(requestIds.slice(100))
const openSeconds = (performance.now() - openedAt) / 1_000
await sleep(3_000)
const after = await residentBytes(winnow)
const idle = await cpuSeconds(winnow)
await publishProgress(seconds)
const busy = (await cpuSeconds(winnow)) - idle
report('status streams', {
  streams,
  ended,
  interval_seconds: interval,
  opened_in_seconds: round(openSeconds),
  kib_per_stream: round((after - before) / 1_024 / (streams - 100)),
  gateway_mib: round(after / 2 ** 20),
  published: seconds * EVENTS_PER_SECOND,
  arrived: delays.length,
  p50_ms: round(quantile(delays, 0.5)),
  p99_ms: round(quantile(delays, 0.99)),
  worst_ms: round(Math.max(...delays)),
  gateway_cpu_percent: round((100 * busy) / seconds),
  events_per_second: round(events / seconds),
  load: round(loadavg()[0] ?? 0),
})

await broker.close()
await scope.end()
process.exit(0)

/** Requests in progress, straight into the database of the gateway that runs on it. */
async function runningRequests({ folder }: Winnow, count: number): Promise<string[]> {
  const store = await openSqlite(join(folder, 'winnow.db'))
  const { account_id } = await store
    .selectFrom('accounts')
    .select('account_id')
    .executeTakeFirstOrThrow()
  const now = new Date().toISOString()
  const rows = Array.from({ length: count }, () => ({
    request_id: newId('req'),
    account_id,
    kind: 'separate' as const,
    status: 'IN_PROGRESS' as const,
    prompt: 'a bell',
    options: '{}',
    audio_url: 'https://a.example/bell.wav',
    file_name: 'bell.wav',
    created_at: now,
    updated_at: now,
    started_at: now,
    attempt_id: ATTEMPT_ID,
    attempts: 1,
    attempt_ids: `${ATTEMPT_ID} `,
    requeues: 0,
    interruptions: 0,
    webhook_secret_generated: 0 as const,
    media_bytes: 0,
  }))
  for (let i = 0; i < count; i += 100) {
    await store
      .insertInto('requests')
      .values(rows.slice(i, i + 100))
      .execute()
  }
  await store.destroy()
  return rows.map((row) => row.request_id)
}

async function openStreams(ids: readonly string[]): Promise<void> {
  for (let i = 0; i < ids.length; i += OPENED_AT_ONCE) {
    await Promise.all(ids.slice(i, i + OPENED_AT_ONCE).map(openStream))
  }
}

/** Resolves with the first event. */
function openStream(requestId: string): Promise<void> {
  const { hostname, port } = new URL(winnow.url)
  return new Promise((resolve, reject) => {
    const call = request(
      {
        hostname,
        port,
        agent: false,
        path: `/v1/queue/requests/${requestId}/status/stream?interval=${interval}`,
        headers: { authorization: `Bearer ${API_KEY}` },
      },
      (answer) => {
        answer.setEncoding('utf8')
        answer.on('data', (text: string) => {
          const now = performance.now()
          for (const [, progress] of text.matchAll(/"progress":([\d.e-]+)/g)) {
            const since = published.get(`${requestId} ${progress}`)
            if (since === undefined) continue
            delays.push(now - since)
            published.delete(`${requestId} ${progress}`)
          }
          events += 1
          resolve()
        })
        answer.on('close', () => {
          ended += 1
        })
        if (answer.statusCode !== 200) reject(new Error(`a stream answered ${answer.statusCode}`))
      },
    )
    call.on('error', reject)
    call.end()
  })
}

async function publishProgress(lengthSeconds: number): Promise<void> {
  events = 0
  const startedAt = performance.now()
  for (let i = 0; i < lengthSeconds * EVENTS_PER_SECOND; i += 1) {
    const waitMs = startedAt + (i * 1_000) / EVENTS_PER_SECOND - performance.now()
    if (waitMs > 0) await sleep(waitMs)
    const requestId = requestIds[Math.floor(Math.random() * requestIds.length)] ?? ''
    const progress = randomBytes(4).readUInt32LE() / 2 ** 32 // of every publish another value
    published.set(`${requestId} ${progress}`, performance.now())
    broker.publishProgress({
      request_id: requestId,
      attempt_id: ATTEMPT_ID,
      at: new Date().toISOString(),
      progress,
    })
  }
  await sleep(1_000)
}

/** The gateway's memory. */
async function residentBytes({ gateway }: Winnow): Promise<number> {
  const status = await readFile(`/proc/${gateway.child.pid}/status`, 'utf8')
  return 1_024 * Number(/VmRSS:\s+(\d+)/.exec(status)?.[1])
}

async function cpuSeconds({ gateway }: Winnow): Promise<number> {
  const stat = await readFile(`/proc/${gateway.child.pid}/stat`, 'utf8')
  const [user, system] = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 13)
    .map(Number)
  return ((user ?? 0) + (system ?? 0)) / 100
}
