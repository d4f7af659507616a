/**
 * Question: how much CPU time does one request take, outside its model?
 *
 * `npm run bench -- request-cost [--postgres] [rounds] [seconds] [checkouts...]`: for this checkout
 * and each other one that is named, starts nats-server, a gateway and an engine with a model that
 * costs nothing, on SQLite or PostgreSQL. Separates stereo WAVs of `seconds` seconds (4) in turns.
 * A turn is 20 requests one after the other, each one call that waits, and two downloads. Prints
 * one JSON line per checkout: milliseconds of CPU time per request (median, least and most of
 * the turns) by process and of its first thread (`main`), and their ratio to this checkout's.
 */

import { randomBytes } from 'node:crypto'
import { existsSync, openAsBlob } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createScope } from '../test/support/processes/scope.ts'
import { noise } from '../test/support/media/signals.ts'
import { createDatabase } from '../test/support/database/start-postgres.ts'
import { startWinnow, type Winnow } from '../test/support/processes/start-winnow.ts'
import { wavBytes } from '../test/support/media/wav.ts'
import { load1 } from './load/own-service.ts'
import { cpuSeconds, threadSeconds } from './process-usage.ts'
import { quantile, report, round } from './report.ts'

const args = process.argv.slice(2)
const onPostgres = args[0] === '--postgres'
const [rounds = 10, seconds = 4] = args.slice(onPostgres ? 1 : 0, onPostgres ? 3 : 2).map(Number)
const checkouts = ['.', ...args.slice(onPostgres ? 3 : 2)].map((path) => resolve(path))
/** The first one that a checkout has: earlier ones have it in another folder. */
const ENGINES = ['bench/request-cost/engine.ts', 'bench/pipeline/engine.ts']
const REQUESTS = 20
const SAMPLE_RATE = 44_100

type Cost = Record<
  'gateway' | 'gateway_main' | 'engine' | 'engine_main' | 'media' | 'broker' | 'wall',
  number
>

const scope = createScope()
const services = await Promise.all(checkouts.map(start))
const path = join(services[0]!.folder, 'noise.wav')
const channels = [1, 2].map((seed) => noise(seconds, SAMPLE_RATE, seed))
await writeFile(path, wavBytes(channels, SAMPLE_RATE))
const costs = services.map(() => [] as Cost[])
// not measured, because the first requests are slow
for (const service of services) await turn(service)
for (let i = 0; i < rounds; i += 1) {
  for (const [at, service] of services.entries()) costs[at]!.push(await turn(service))
}
for (const [at, list] of costs.entries()) {
  const names = Object.keys(list[0]!) as (keyof Cost)[]
  const spreads = names.map((name) => [name, spread(list.map((cost) => cost[name]))])
  const timesOurs = (name: keyof Cost) =>
    spread(list.map((cost, i) => cost[name] / costs[0]![i]![name]))
  report('milliseconds of CPU time a request', {
    checkout: checkouts[at],
    ...Object.fromEntries(spreads),
    gateway_times_ours: timesOurs('gateway'),
    engine_main_times_ours: timesOurs('engine_main'),
    load1: load1(),
  })
}
await scope.end()
process.exit() // ends media processes that are kept warm

async function start(checkout: string): Promise<Winnow> {
  const env = onPostgres ? await databaseSettings() : {}
  const winnow = await startWinnow(scope, { engines: 0, env })
  await winnow.gateway.end('SIGTERM')
  await winnow.startGateway({}, 'gateway/main.ts', checkout)
  const engine = ENGINES.find((path) => existsSync(join(checkout, path)))!
  await winnow.startEngine({}, engine, checkout)
  return winnow
}

/**
 * Settings for a new database, which never flushes to disk, because flushes are not the gateway's
 * work.
 */
async function databaseSettings() {
  const folder = await mkdtemp(join(tmpdir(), 'request-cost-'))
  scope.after(() => rm(folder, { recursive: true }))
  const keyFile = join(folder, 'key')
  await writeFile(keyFile, randomBytes(32).toString('base64'))
  const keys = { SIGNING_KEY_FILE: keyFile, ENCRYPTION_KEY_FILE: keyFile }
  return { ...keys, DATABASE_URL: await createDatabase(scope) }
}

async function turn(winnow: Winnow): Promise<Cost> {
  const before = now(winnow)
  for (let i = 0; i < REQUESTS; i += 1) {
    const bytes = await openAsBlob(path)
    const media = { name: 'noise.wav', contentType: 'audio/wav', bytes }
    const { data } = await winnow.client.separate(media, 'beep')
    for (const { url } of [data.target, data.residual]) {
      await (await winnow.client.open(url)).arrayBuffer()
    }
  }
  const after = now(winnow)
  const perRequest = (name: keyof Cost) => (1_000 * (after[name] - before[name])) / REQUESTS
  return Object.fromEntries(
    Object.keys(before).map((name) => [name, perRequest(name as keyof Cost)]),
  ) as Cost
}

function now({ engines, gateway, nats }: Winnow): Cost {
  const [enginePid, gatewayPid] = [engines[0]!.child.pid!, gateway.child.pid!]
  const { own: engine, children: media } = cpuSeconds(enginePid)
  return {
    gateway: cpuSeconds(gatewayPid).own,
    gateway_main: threadSeconds(gatewayPid),
    engine,
    engine_main: threadSeconds(enginePid),
    media,
    broker: cpuSeconds(nats.process.pid!).own,
    wall: performance.now() / 1_000,
  }
}

function spread(values: readonly number[]) {
  const at = (share: number) => round(quantile(values, share))
  return { median: at(0.5), least: at(0), most: at(1) }
}
