/**
 * Question: is Winnow faster than what somebody would build instead, mini's weights in PyTorch
 * behind LitServe? Both run on the same machine with the same media, in turns, each with the best
 * of the settings tried.
 *
 *   npm run bench -- peers --python <a Python that has bench/peers/requirements.txt>
 */

import { mkdirSync } from 'node:fs'
import { cpus } from 'node:os'
import { join } from 'node:path'
import { FLAG, readOwnArgv, TEXT } from '../scripts/cli/command.ts'
import { closedLoop, openLoop, type Outcome, type Send } from './load/drive.ts'
import { fixedWork, parseMix, poissonArrivals } from './load/mix.ts'
import { load1, startOwnService } from './load/own-service.ts'
import { seededRandom } from '../test/support/basics/random.ts'
import { summarise } from './load/summary.ts'
import { mediaOf, throughPeer, throughWinnow } from './peers/exchange.ts'
import { startPeer, type PeerSettings } from './peers/peer-server.ts'
import { watchUsage } from './process-usage.ts'
import { commit, machine, report, round } from './report.ts'
import { mean, pairedRatio } from './statistics/bootstrap.ts'
import { isSaturated, kneeOf, rateWithin } from './statistics/knee.ts'
import { Journal, PieceEnded } from './tune/journal.ts'

const MIX = '4s:4,10s:1'
const LATENCY_MS_MAX = 5_000
const TURNS = 6
const WARM_UP_TURNS = 4
const TURN_AUDIO_SECONDS = 104
const IN_FLIGHT = 16
const RATE_SHARES = [0.6, 0.8, 1]
const RATE_SECONDS = 15
const UNFINISHED_CODE = 3
const cores = cpus().length

const { values } = readOwnArgv({
  python: TEXT,
  out: { ...TEXT, default: 'peers' },
  resume: FLAG,
  'stop-after': TEXT,
})
const python = values.python
if (!python) throw new Error('--python must name one that has bench/peers/requirements.txt')
const mix = parseMix(MIX)
const media = mediaOf(mix.map(({ seconds }) => seconds))
const work = fixedWork(mix, TURN_AUDIO_SECONDS)
mkdirSync(values.out, { recursive: true })
const journal = new Journal(join(values.out, 'runs.jsonl'), {
  header: { machine: machine(), commit: commit(), mix: MIX },
  resume: values.resume,
  load1,
  ...(values['stop-after'] && { secondsMax: Number(values['stop-after']) }),
})

interface Side {
  name: string
  start(): Promise<RunningPeer>
}

interface RunningPeer {
  send: Send
  pids: number[]
  /** Sends a signal to all its processes. */
  signal(name: NodeJS.Signals): void
  end(): Promise<void>
}

interface WinnowSettings {
  engines: number
  /** TensorFlow's threads in each engine; undefined for its default. */
  threads?: number
  bfloat16?: boolean
}

const precisionOf = ({ bfloat16 = false }: { bfloat16?: boolean }) =>
  bfloat16 ? 'bfloat16' : 'float32'

const winnowOf = (settings: WinnowSettings): Side => ({
  name: `Winnow ${precisionOf(settings)}`,
  async start() {
    const { engines: count, threads } = settings
    const env = {
      PRECISION: precisionOf(settings),
      ...(threads && { TF_NUM_INTRAOP_THREADS: String(threads) }),
    }
    const service = await startOwnService(env, count)
    const { url, gateway, engines, nats } = service.winnow
    const processes = [gateway.child, ...engines.map(({ child }) => child), nats.process]
    const pids = processes.flatMap(({ pid }) => pid ?? [])
    return {
      send: throughWinnow({ url, apiKey: service.apiKey }, media),
      pids,
      signal(name) {
        for (const pid of pids) process.kill(pid, name)
      },
      end: service.end,
    }
  },
})

const peerOf = (settings: PeerSettings): Side => ({
  name: `LitServe ${precisionOf(settings)}`,
  async start() {
    const { url, pid, signal, end } = await startPeer(python, settings)
    return { send: throughPeer(url, media), pids: [pid], signal, end }
  },
})

try {
  const winnow = await bestWinnow()
  const peer = await bestPeer()
  const half = { bfloat16: true }
  await compare([
    winnowOf(winnow),
    winnowOf({ ...winnow, ...half }),
    peerOf(peer),
    peerOf({ ...peer, ...half }),
  ])
} catch (error) {
  if (!(error instanceof PieceEnded)) throw error
  console.error('This piece is over; go on with --resume.')
  process.exitCode = UNFINISHED_CODE
}

function bestWinnow(): Promise<WinnowSettings> {
  const others = [
    { engines: 1, threads: 1 },
    { engines: cores, threads: 1 },
  ]
  return bestOf('winnow', [{ engines: 1 }, ...others], winnowOf)
}

async function bestPeer(): Promise<PeerSettings> {
  const layouts = [
    { workers: 1, threads: cores },
    { workers: cores, threads: 1 },
  ]
  const settings = layouts.flatMap((layout) =>
    [1, 4, 8].map((batch) => ({
      ...layout,
      batch,
      batchTimeout: batch === 1 ? 0 : 0.02,
      bfloat16: false,
    })),
  )
  const best = await bestOf('peer', settings, peerOf)
  if (best.batch === 1) return best
  const waits = [0.005, 0.02, 0.1].map((batchTimeout) => ({ ...best, batchTimeout }))
  return bestOf('peer', waits, peerOf)
}

/** Returns the settings with which a side serves most when all requests come at once. */
async function bestOf<Settings extends object>(
  phase: string,
  all: readonly Settings[],
  sideOf: (settings: Settings) => Side,
): Promise<Settings> {
  let best = { settings: all[0]!, perSecond: 0 }
  for (const settings of all) {
    const perSecond = await journal.run({ phase, ...settings }, () => speedAlone(sideOf(settings)))
    report(`which settings are the best? ${phase}`, { ...settings, requests_per_second: perSecond })
    if (perSecond > best.perSecond) best = { settings, perSecond }
  }
  return best.settings
}

/**
 * Warms up until every common batch has its graph or compiled kernel, since a service runs for
 * days.
 */
async function warmUp(send: Send): Promise<void> {
  for (let turn = 0; turn < WARM_UP_TURNS; turn += 1) await closedLoop(work, IN_FLIGHT, send)
}

/** Measures requests a second after warming up. */
async function speedAlone(side: Side): Promise<number> {
  const { send, end } = await side.start()
  try {
    await warmUp(send)
    const { wallSeconds, outcomes } = await closedLoop(work, IN_FLIGHT, send)
    const failed = outcomes.find(({ code }) => code !== 'COMPLETED')
    if (failed) throw new Error(`a request to ${side.name} ended with ${failed.code}`)
    return round(work.length / wallSeconds)
  } finally {
    await end()
  }
}

interface Turn {
  requests_per_second: number
  cpu_seconds_per_request: number
  peak_mib: number
  p95_ms: number
  errors: Record<string, number>
  saturated: boolean
}

/**
 * Loads the sides in turns. All stay started, but those not measured are stopped by a signal,
 * because LitServe's queue takes a quarter of a core even when idle.
 */
async function compare(sides: readonly Side[]): Promise<void> {
  const running = new Map<Side, RunningPeer>()
  const runningOf = async (side: Side) => {
    const peer = running.get(side)
    if (peer) return peer
    const started = await side.start()
    running.set(side, started)
    await warmUp(started.send)
    return started
  }
  const measure = async (side: Side, run: (send: Send) => Promise<Outcome[]>, loadMs?: number) => {
    const { send, pids } = await runningOf(side)
    for (const [other, { signal }] of running) signal(other === side ? 'SIGCONT' : 'SIGSTOP')
    const endUsage = watchUsage(pids)
    const outcomes = await run(send)
    return turnOf(outcomes, endUsage(), loadMs)
  }
  try {
    const saturated = new Map<Side, Turn[]>(sides.map((side) => [side, []]))
    for (let turn = 0; turn < TURNS; turn += 1) {
      for (const side of turn % 2 === 0 ? sides : [...sides].reverse()) {
        const key = { phase: 'saturated', turn, side: side.name }
        const allAtOnce = async (send: Send) => (await closedLoop(work, IN_FLIGHT, send)).outcomes
        saturated.get(side)!.push(await journal.run(key, () => measure(side, allAtOnce)))
      }
    }
    const rates = new Map<Side, (Turn & { perSecond: number })[]>(sides.map((side) => [side, []]))
    for (const [seed, share] of RATE_SHARES.entries()) {
      for (const side of sides) {
        const full = mean(saturated.get(side)!.map((turn) => turn.requests_per_second))
        const perSecond = round(share * full)
        const arrivals = poissonArrivals(mix, perSecond, RATE_SECONDS, seededRandom(seed))
        const atRandom = (send: Send) =>
          openLoop(arrivals, send, { drainMs: 30_000, inFlightMax: 1_000 })
        const key = { phase: 'rate', perSecond, side: side.name }
        const turn = await journal.run(key, () => measure(side, atRandom, 1_000 * RATE_SECONDS))
        rates.get(side)!.push({ ...turn, perSecond })
      }
    }
    for (const side of sides) reportSide(side, sides[0]!, saturated, rates)
  } finally {
    for (const { end } of running.values()) await end()
  }
}

function turnOf(
  outcomes: readonly Outcome[],
  { cpuSeconds, peakBytes }: ReturnType<ReturnType<typeof watchUsage>>,
  loadMs?: number,
): Turn {
  const { requests_per_second, latency_ms, errors, completed } = summarise(outcomes)
  return {
    requests_per_second,
    cpu_seconds_per_request: round(cpuSeconds / Math.max(1, completed)),
    peak_mib: round(peakBytes / 2 ** 20),
    p95_ms: latency_ms.p95,
    errors,
    saturated: loadMs !== undefined && isSaturated(outcomes, loadMs),
  }
}

function reportSide(
  side: Side,
  ours: Side,
  saturated: ReadonlyMap<Side, readonly Turn[]>,
  rates: ReadonlyMap<Side, readonly (Turn & { perSecond: number })[]>,
): void {
  const turns = saturated.get(side)!
  const speeds = (of: Side) => saturated.get(of)!.map((turn) => turn.requests_per_second)
  const points = rates
    .get(side)!
    .map(({ perSecond, p95_ms, saturated: isSaturated, errors }) => ({
      perSecond,
      latencyMs: p95_ms,
      isSaturated,
      failed: Object.keys(errors).length,
    }))
  const ratio = pairedRatio(speeds(ours), speeds(side))
  report('how many requests a second, in the same turns?', {
    side: side.name,
    load1: load1(),
    requests_per_second: round(mean(speeds(side))),
    winnow_times_as_fast: [ratio.estimate, ratio.low, ratio.high].map((x) => round(x)),
    cpu_seconds_per_request: round(mean(turns.map((turn) => turn.cpu_seconds_per_request))),
    peak_mib: Math.max(...turns.map((turn) => turn.peak_mib)),
    knee: kneeOf(points),
    within_5_s: rateWithin(points, LATENCY_MS_MAX),
    rates: rates
      .get(side)!
      .map(({ perSecond, p95_ms, saturated: isSaturated }) => ({
        perSecond,
        p95_ms,
        saturated: isSaturated,
      })),
  })
}
