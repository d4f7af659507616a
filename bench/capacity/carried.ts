/**
 * Measures the cost of one request to the database, the broker and the store, counted by
 * themselves.
 */

import { randomBytes } from 'node:crypto'
import { readdir, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { tmpdir } from 'node:os'
import { mkdtemp, rm } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { startNatsServer } from '../../scripts/cli/start/nats-server.ts'
import { freePorts } from '../../test/support/processes/free-ports.ts'
import { startPostgres } from '../../test/support/database/start-postgres.ts'
import { closedLoop } from '../load/drive.ts'
import { startOwnService } from '../load/own-service.ts'
import { prepareRequests } from '../load/winnow-requests.ts'

const COUNTS = [
  'database_commits',
  'database_rows_written',
  'database_wal_bytes',
  'broker_messages_in',
  'broker_messages_out',
  'broker_bytes_in',
  'broker_bytes_out',
  'store_bytes_written',
] as const

export type Counts = Record<(typeof COUNTS)[number], number>

export interface CarriedLoad {
  audioSeconds: number
  requests: number
  /** Cost of one request, less an idle service's in the time. */
  perRequest: Counts
  /** Cost of an idle gateway and engine, a second. */
  idlePerSecond: Counts
}

const IDLE_SECONDS = 15
/** PostgreSQL tells its counters about once a second. */
const SETTLE_MS = 3_000

/** Runs so many requests through a service on PostgreSQL with everything durable. */
export async function measureCarried(audioSeconds: number, requests: number): Promise<CarriedLoad> {
  const folder = await mkdtemp(join(tmpdir(), 'winnow-carried-'))
  const [monitorPort] = await freePorts(1)
  const postgres = await startPostgres({ settings: [] })
  const settings = [`http: "127.0.0.1:${monitorPort}"`]
  const nats = await startNatsServer({ folder: join(folder, 'nats'), settings })
  const keyFile = join(folder, 'key')
  await writeFile(keyFile, randomBytes(32).toString('base64'))
  const address = postgres.urlOf('postgres')
  const database = new pg.Pool({ connectionString: address, max: 1 })
  const service = await startOwnService({
    NATS_URL: nats.url,
    DATABASE_URL: address,
    SIGNING_KEY_FILE: keyFile,
    ENCRYPTION_KEY_FILE: keyFile,
  })
  try {
    const { url, folder: data } = service.winnow
    const mix = [{ seconds: audioSeconds, weight: 1 }]
    const send = await prepareRequests({ url, apiKey: service.apiKey }, mix)
    await closedLoop([audioSeconds, audioSeconds], 1, send)
    const count = () => counts(database, monitorPort!, data)
    const start = await count()
    await sleep(1_000 * IDLE_SECONDS)
    const begin = await count()
    const idle = divided(difference(begin, start), IDLE_SECONDS + SETTLE_MS / 1_000)
    const { wallSeconds } = await closedLoop(Array(requests).fill(audioSeconds), 4, send)
    const whole = difference(await count(), begin)
    const seconds = wallSeconds + SETTLE_MS / 1_000
    const ofRequests = difference(whole, divided(idle, 1 / seconds))
    return {
      audioSeconds,
      requests,
      perRequest: divided(ofRequests, requests),
      idlePerSecond: idle,
    }
  } finally {
    await database.end()
    await service.end()
    nats.process.kill('SIGKILL')
    await postgres.stop('SIGQUIT')
    await rm(folder, { recursive: true, force: true })
  }
}

async function counts(database: pg.Pool, monitorPort: number, data: string): Promise<Counts> {
  await sleep(SETTLE_MS)
  const { rows } = await database.query<Record<string, string>>(`
    SELECT xact_commit AS commits, tup_inserted + tup_updated + tup_deleted AS written,
      (SELECT wal_bytes FROM pg_stat_wal) AS wal
    FROM pg_stat_database WHERE datname = current_database()`)
  const varz = (await (await fetch(`http://127.0.0.1:${monitorPort}/varz`)).json()) as {
    in_msgs: number
    out_msgs: number
    in_bytes: number
    out_bytes: number
  }
  return {
    database_commits: Number(rows[0]!.commits),
    database_rows_written: Number(rows[0]!.written),
    database_wal_bytes: Number(rows[0]!.wal),
    broker_messages_in: varz.in_msgs,
    broker_messages_out: varz.out_msgs,
    broker_bytes_in: varz.in_bytes,
    broker_bytes_out: varz.out_bytes,
    store_bytes_written: await bytesOf(data),
  }
}

/** Bytes of media in the service's folder, without its broker's store, logs and keys. */
async function bytesOf(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile() && !entry.parentPath.includes('/nats'))
  const sizes = files.map(async ({ parentPath, name }) => {
    const found = await stat(join(parentPath, name)).catch(() => null) // deleted meanwhile
    return found?.size ?? 0
  })
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0)
}

const difference = (a: Counts, b: Counts): Counts => mapped((name) => a[name] - b[name])

const divided = (counts: Counts, by: number): Counts => mapped((name) => counts[name] / by)

const mapped = (valueOf: (name: keyof Counts) => number): Counts =>
  Object.fromEntries(COUNTS.map((name) => [name, valueOf(name)])) as Counts
