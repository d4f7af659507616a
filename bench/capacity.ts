/**
 * How many engines does a load need, and what must database, broker and store carry then? A
 * simulation of queues from measured service times, whose small cases are held against real runs.
 *
 *   npm run bench -- capacity --out capacity
 */

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { FLAG, readOwnArgv, TEXT } from '../scripts/cli/command.ts'
import { measureCarried, type CarriedLoad } from './capacity/carried.ts'
import { enginesNeeded } from './capacity/plan.ts'
import { fitService, measureServiceTime, type ServicePoint } from './capacity/service-times.ts'
import { fullRate, simulate, type Fleet, type ServiceTimes } from './capacity/simulate.ts'
import { openLoop } from './load/drive.ts'
import { DEFAULT_MIX, meanSeconds, parseMix, poissonArrivals } from './load/mix.ts'
import { load1, startOwnService } from './load/own-service.ts'
import { seededRandom } from '../test/support/basics/random.ts'
import { summarise } from './load/summary.ts'
import { prepareRequests } from './load/winnow-requests.ts'
import { commit, machine, report, round } from './report.ts'
import { Journal, PieceEnded } from './tune/journal.ts'

const HELP = `Usage: npm run bench -- capacity [options]

  --mix PARTS         of the fleets (default ${DEFAULT_MIX})
  --speed N,N         audio-seconds a second of further engines to plan with, such as GPUs that
                      were not measured here: service times are scaled to it
  --points S:A:D,…    service times that were measured elsewhere, in seconds: of media of S
                      seconds A alone and D of an engine that always has several; nothing is
                      measured then
  --out FOLDER        where runs.jsonl goes (default capacity)
  --resume, --stop-after SECONDS   as of tune
`
/** The load of checks: short, so that a minute has many. */
const CHECK_MIX = '4s:4,10s:1'
const CHECK_SECONDS = 40
const CHECK_LOADS = [0.5, 0.75]
/** Jobs of one account that an engine runs at once: its first and four further ones. */
const JOBS_OF_ONE_ACCOUNT = 5
const JOBS_MAX = 8
const SIZES = [1, 2, 10, 100, 1_000]
const SIMULATED = { secondsLeast: 600, requests: 60_000 }
const HOURS_A_DAY = [100, 1_000, 10_000, 100_000, 1_000_000]
const P95_SECONDS = 60
const UNFINISHED_CODE = 3
/** An engine's, as measured for mini on a processor; more for large models. */
const COLD_START_SECONDS = 20
const STORM = { failureHours: 24, deployHours: 24 }

const { values } = readOwnArgv(
  {
    mix: { ...TEXT, default: DEFAULT_MIX },
    speed: { ...TEXT, default: '1000,3000' },
    points: TEXT,
    out: { ...TEXT, default: 'capacity' },
    resume: FLAG,
    'stop-after': TEXT,
  },
  HELP,
)
const mix = parseMix(values.mix)
if (values.points !== undefined) {
  const service = fitService(readPoints(values.points))
  reportSizes(service, null)
  reportPlans(service)
  process.exit(0)
}
mkdirSync(values.out, { recursive: true })
const journal = new Journal(join(values.out, 'runs.jsonl'), {
  header: { machine: machine(), commit: commit(), mix: values.mix },
  resume: values.resume,
  load1,
  ...(values['stop-after'] && { secondsMax: Number(values['stop-after']) }),
})
try {
  const whole = await serviceOf('one engine', {}, mix)
  const carried = await journal.run({ phase: 'carried' }, () => measureCarried(30, 20))
  report('what does a request cost database, broker and store?', rounded(carried))
  await check('one engine', 1, {})
  await check('two engines, a thread each', 2, { TF_NUM_INTRAOP_THREADS: '1' })
  reportSizes(whole, carried)
  reportPlans(whole)
} catch (error) {
  if (!(error instanceof PieceEnded)) throw error
  console.error('This piece is over; go on with --resume.')
  process.exitCode = UNFINISHED_CODE
}

/** @throws Error with what would be right */
function readPoints(text: string): ServicePoint[] {
  return text.split(',').map((part) => {
    const [audioSeconds, alone, demand] = part.split(':').map(Number)
    if (!(audioSeconds! > 0 && alone! > 0 && demand! > 0)) {
      throw new Error(`--points is such as 4:0.4:0.25,60:2.5:2.3, not "${text}"`)
    }
    return { audioSeconds: audioSeconds!, alone: alone!, demand: demand! }
  })
}

async function serviceOf(
  name: string,
  { env = {}, engines = 1 }: { env?: Readonly<Record<string, string>>; engines?: number },
  lengths: typeof mix,
): Promise<ServiceTimes> {
  const key = { phase: 'service', name, lengths: lengths.map(({ seconds }) => seconds) }
  const points = await journal.run(key, async () => {
    const service = await startOwnService(env, engines)
    const inFlight = engines * JOBS_OF_ONE_ACCOUNT
    try {
      const { url } = service.winnow
      const send = await prepareRequests({ url, apiKey: service.apiKey }, lengths)
      const measured = []
      for (const { seconds } of lengths) {
        measured.push(await measureServiceTime(send, seconds, { engines, inFlight }))
      }
      return measured
    } finally {
      await service.end()
    }
  })
  const times = fitService(points)
  report('how long does a request take an engine?', { name, points, ...times })
  return times
}

function fleetOf(service: ServiceTimes, engines: number, jobsMax: number): Fleet {
  const lifecycle = { coldStartSeconds: COLD_START_SECONDS, leaseSeconds: 30, drainSeconds: 30 }
  return { engines, jobsMax, service, ...lifecycle }
}

/** Real runs compared with their simulation: the same rate, mix and engines. */
async function check(
  name: string,
  engines: number,
  env: Readonly<Record<string, string>>,
): Promise<void> {
  const short = parseMix(CHECK_MIX)
  // Engines that share the cores are measured as they share them.
  const alone = await serviceOf(`${name}, to check`, { env, engines }, short)
  const fleet = fleetOf(alone, engines, JOBS_OF_ONE_ACCOUNT)
  for (const share of CHECK_LOADS) {
    const perSecond = round(share * fullRate(fleet, meanSeconds(short)))
    const real = await journal.run({ phase: 'check', name, share }, () =>
      realRun(engines, env, perSecond),
    )
    const simulated = simulate(fleet, { mix: short, perSecond, seconds: 20_000, seed: 1 })
    report('is the simulation right?', {
      name,
      load: share,
      requests_per_second: perSecond,
      n: real.n,
      measured_seconds: { p50: round(real.p50 / 1_000), p95: round(real.p95 / 1_000) },
      simulated_seconds: { p50: round(simulated.p50), p95: round(simulated.p95) },
    })
  }
}

async function realRun(engines: number, env: Readonly<Record<string, string>>, perSecond: number) {
  const short = parseMix(CHECK_MIX)
  const service = await startOwnService(env, engines)
  try {
    const { url } = service.winnow
    const send = await prepareRequests({ url, apiKey: service.apiKey }, short)
    const limits = { drainMs: 60_000, inFlightMax: 1_000 }
    const load = (seconds: number, seed: number) =>
      openLoop(poissonArrivals(short, perSecond, seconds, seededRandom(seed)), send, limits)
    await load(CHECK_SECONDS / 3, 1) // warms up
    const { latency_ms: latency } = summarise(await load(CHECK_SECONDS, 2))
    return latency
  } finally {
    await service.end()
  }
}

/** Fleets of several sizes at 70 % of what they could do, calm and with failures and drains. */
function reportSizes(service: ServiceTimes, carried: CarriedLoad | null): void {
  for (const engines of SIZES) {
    const fleet = fleetOf(service, engines, JOBS_MAX)
    const perSecond = 0.7 * fullRate(fleet, meanSeconds(mix))
    const seconds = Math.max(SIMULATED.secondsLeast, SIMULATED.requests / perSecond)
    const asked = { mix, perSecond, seconds, seed: 1 }
    const calm = simulate(fleet, asked)
    const stormy = simulate({ ...fleet, ...STORM }, asked)
    const all = Object.entries(carried?.perRequest ?? {}).map(([name, count]) => [
      `${name}_per_second`,
      round(count * perSecond * storeShare(name, carried!.audioSeconds)),
    ])
    report('what does a fleet do at 70 % of its full rate?', {
      engines,
      requests_per_second: round(perSecond),
      audio_hours_a_day: round(perSecond * meanSeconds(mix) * 24),
      calm_seconds: { p50: round(calm.p50), p95: round(calm.p95), p99: round(calm.p99) },
      stormy_seconds: { p50: round(stormy.p50), p95: round(stormy.p95), p99: round(stormy.p99) },
      repeated_share: round(stormy.repeated / Math.max(1, stormy.requests)),
      ...Object.fromEntries(all),
    })
  }
}

/** Share of a cost: the store's grows with the media, others with the requests. */
function storeShare(name: string, audioSeconds: number): number {
  return name.startsWith('store') ? meanSeconds(mix) / audioSeconds : 1
}

function reportPlans(measured: ServiceTimes): void {
  const ofMeasured = 1 / measured.demand.slope
  for (const speed of [round(ofMeasured), ...values.speed.split(',').map(Number)]) {
    const scale = ofMeasured / speed
    const scaled = ({ intercept, slope }: ServiceTimes['alone']) => ({
      intercept: scale * intercept,
      slope: scale * slope,
    })
    const service = { alone: scaled(measured.alone), demand: scaled(measured.demand) }
    const fleet = fleetOf(service, 1, JOBS_MAX)
    for (const hours of HOURS_A_DAY) {
      const perSecond = hours / 24 / meanSeconds(mix)
      const wanted = { mix, p95Seconds: P95_SECONDS }
      report('how many engines for so many hours of audio a day?', {
        audio_seconds_per_second_of_an_engine: speed,
        is_measured: scale === 1 || speed === round(ofMeasured),
        audio_hours_a_day: hours,
        engines_even: enginesNeeded(fleet, { ...wanted, perSecond }),
        engines_if_half_come_in_four_hours: enginesNeeded(fleet, {
          ...wanted,
          perSecond: 3 * perSecond,
        }),
      })
    }
  }
}

function rounded({ perRequest, idlePerSecond, ...rest }: CarriedLoad) {
  const few = (counts: CarriedLoad['perRequest']) =>
    Object.fromEntries(Object.entries(counts).map(([name, count]) => [name, round(count)]))
  return { ...rest, per_request: few(perRequest), idle_per_second: few(idlePerSecond) }
}
