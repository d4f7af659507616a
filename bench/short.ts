/**
 * Question: how long does a short request take beside eight long ones, compared with alone?
 *
 * `npm run bench -- short [--model htdemucs] [rounds] [requests] [channels] [cases...]`: starts
 * nats-server, gateway and an engine for each case, and then in each of `rounds` rounds (5), for
 * one case after the other: `requests` (10) calls of 4 s of noise alone; eight requests of ten
 * minutes; their throughput while nothing else comes; and meanwhile `requests` calls of 4 s of
 * their account and as many of another. A case is a setting, `BATCH_FRAMES_MAX=1024` for example,
 * or the folder of another checkout; the first is this checkout as it is. One JSON line per case:
 * milliseconds of the calls, and how many times as long they take as the median alone; the
 * throughput of the long requests, in frames a second, and in a second of the engine's processor
 * time, which other work disturbs less, each also compared with the first case's of the same
 * round. With `--model` the long requests are for `vocals` of that model, at its published size
 * with random weights, and the calls are still for mini.
 */

import { openAsBlob } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { createClient, type Client } from '../clients/typescript/node.ts'
import { TEXT } from '../scripts/cli/command.ts'
import { connectEngine, type EngineStats } from '../shared/engine-control.ts'
import { createScope } from '../test/support/processes/scope.ts'
import { noise } from '../test/support/media/signals.ts'
import { startWinnow, type Winnow } from '../test/support/processes/start-winnow.ts'
import { wavBytes } from '../test/support/media/wav.ts'
import { load1 } from './load/own-service.ts'
import { processorSeconds } from './pipeline/processor-time.ts'
import { installRandomModel } from './random-models.ts'
import { quantile, report, round } from './report.ts'

const { values, positionals } = parseArgs({ options: { model: TEXT }, allowPositionals: true })
const { model } = values
const [rounds = 5, requests = 10, channels = 2] = positionals.slice(0, 3).map(Number)
const names = ['as it is', ...positionals.slice(3)]

const SAMPLE_RATE = 44_100
const LONG_REQUESTS = 8
const SECONDS = { short: 4, long: 600 }
const ADMIN_TOKEN = 'a-token-of-this-bench'
/** The long requests run alone so long, while their throughput is measured. */
const THROUGHPUT_MS = 15_000
/** Calls come at any moment of a batch. */
const PAUSE_MS_MAX = 500
/** A call is given up after so long, which then counts as its time. */
const CALL_MS_MAX = 60_000
const LOOK_MS = 250

/** Milliseconds of calls. */
interface Latencies {
  alone: number[]
  same_account: number[]
  another_account: number[]
}

interface Case {
  name: string
  winnow: Winnow
  engine: ReturnType<typeof connectEngine>
  another: Client
  latencies: Latencies
  /** Frames of the long requests in each round: in a second, and in one of processor time. */
  throughputs: number[]
  efficiencies: number[]
}

const scope = createScope()
const modelSettings = model ? await installModel(model) : {}
const cases: Case[] = []
for (const name of names) cases.push(await startCase(name))
const { folder } = cases[0]!.winnow
const shortPath = await writeNoise('short', SECONDS.short)
const longPath = await writeNoise('long', SECONDS.long)
for (let i = 0; i < rounds; i += 1) for (const each of cases) await turn(each)
for (const each of cases) reportCase(each, cases[0]!)
for (const { engine } of cases) engine.close()
await scope.end()
process.exit() // warm media processes are of no use any more

/** @returns the settings of an engine that has the model beside mini */
async function installModel(model: string) {
  const modelsFolder = await mkdtemp(join(tmpdir(), 'short-'))
  scope.after(() => rm(modelsFolder, { recursive: true, force: true }))
  await installRandomModel(modelsFolder, model)
  return { MODELS: `mini,${model}`, MODELS_DIR: modelsFolder }
}

async function startCase(name: string): Promise<Case> {
  const setting = /^(\w+)=(.*)$/.exec(name)
  const isCheckout = !setting && name !== names[0]
  const env = { ADMIN_TOKEN, ...modelSettings, ...(setting && { [setting[1]!]: setting[2]! }) }
  const winnow = await startWinnow(scope, { engines: isCheckout ? 0 : 1, env })
  if (isCheckout) {
    await winnow.gateway.end('SIGTERM')
    await winnow.startGateway({}, 'gateway/main.ts', resolve(name))
    await winnow.startEngine({}, 'engine/main.ts', resolve(name))
  }
  const engine = connectEngine(winnow.engines[0]!.ready.control!)
  const latencies = { alone: [], same_account: [], another_account: [] }
  const another = await clientOfAnother(winnow)
  return { name, winnow, engine, another, latencies, throughputs: [], efficiencies: [] }
}

async function clientOfAnother({ url }: Winnow): Promise<Client> {
  const post = async (path: string, body: Record<string, unknown>) => {
    const response = await fetch(`${url}/admin/${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
    return (await response.json()) as Record<string, string>
  }
  const { account_id } = await post('accounts', { name: 'another' })
  const scopes = ['files:write', 'files:read', 'audio:separate']
  const { key } = await post('keys', { account_id, scopes })
  return createClient({ baseUrl: url, apiKey: key! })
}

async function writeNoise(name: string, seconds: number): Promise<string> {
  const path = join(folder, `${name}.wav`)
  const waves = Array.from({ length: channels }, (_, i) => noise(seconds, SAMPLE_RATE, i + 1))
  await writeFile(path, wavBytes(waves, SAMPLE_RATE))
  return path
}

async function turn(current: Case): Promise<void> {
  const { winnow, latencies, another } = current
  const { client } = winnow
  await timed(client) // the first is slow
  for (let i = 0; i < requests; i += 1) latencies.alone.push(await timed(client))
  const fileId = await client.upload(longPath, 'audio/wav')
  const long = await Promise.all(
    Array.from({ length: LONG_REQUESTS }, () =>
      client.submit({ input: { prompt: model ? 'vocals' : 'beep', file_id: fileId } }),
    ),
  )
  await begun(current)
  await measureThroughput(current)
  for (let i = 0; i < requests; i += 1) {
    latencies.same_account.push(await timed(client))
    latencies.another_account.push(await timed(another))
  }
  await Promise.all(long.map((request) => client.cancel(request)))
  while ((await statsOf(current)).jobs > 0) await sleep(LOOK_MS)
}

/** Milliseconds of one call of 4 s, from its beginning to its result. */
async function timed(client: Client): Promise<number> {
  await sleep(Math.random() * PAUSE_MS_MAX)
  const bytes = await openAsBlob(shortPath)
  const startedAt = performance.now()
  const media = { name: 'short.wav', contentType: 'audio/wav', bytes }
  const call = client.separate(media, 'beep')
  call.catch(() => undefined) // where it was given up
  if ((await Promise.race([call, sleep(CALL_MS_MAX)])) === undefined) {
    const [latest] = (await client.list()).data
    await client.cancel(latest!)
  }
  return performance.now() - startedAt
}

/** Resolves when no further long request begins, and all that have are in the model. */
async function begun(current: Case): Promise<void> {
  for (let [jobs, looks] = [0, 0]; looks < 8; looks += 1) {
    await sleep(LOOK_MS)
    const stats = await statsOf(current)
    if (stats.jobs !== jobs || stats.lanes < stats.jobs) [jobs, looks] = [stats.jobs, 0]
  }
}

async function measureThroughput(current: Case): Promise<void> {
  const pid = current.winnow.engines[0]!.child.pid!
  const [startedAt, processor] = [performance.now(), processorSeconds(pid).own]
  const before = await statsOf(current)
  await sleep(THROUGHPUT_MS)
  const frames = (await statsOf(current)).frames_total - before.frames_total
  current.throughputs.push((1_000 * frames) / (performance.now() - startedAt))
  current.efficiencies.push(frames / (processorSeconds(pid).own - processor))
}

function statsOf({ engine }: Case): Promise<EngineStats> {
  return new Promise((resolve) => {
    const stop = engine.watchStats(60_000, (latest) => {
      stop()
      resolve(latest)
    })
  })
}

function reportCase({ name, latencies, throughputs, efficiencies }: Case, first: Case): void {
  const alone = quantile(latencies.alone, 0.5)
  const times = (list: readonly number[]) => spread(list.map((ms) => ms / alone))
  report('short requests beside eight long ones', {
    case: name,
    ...(model && { model }),
    channels,
    alone_ms: spread(latencies.alone),
    same_account_ms: spread(latencies.same_account),
    same_account_times: times(latencies.same_account),
    another_account_ms: spread(latencies.another_account),
    another_account_times: times(latencies.another_account),
    frames_a_second: spread(throughputs),
    throughput_times_first: spread(throughputs.map((each, i) => each / first.throughputs[i]!)),
    frames_a_processor_second: spread(efficiencies),
    efficiency_times_first: spread(efficiencies.map((each, i) => each / first.efficiencies[i]!)),
    load1: load1(),
  })
}

function spread(values: readonly number[]) {
  const at = (share: number) => round(quantile(values, share))
  return {
    median: at(0.5),
    quartiles: [at(0.25), at(0.75)],
    least: at(0),
    most: at(1),
    n: values.length,
  }
}
