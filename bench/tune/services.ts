/** Starts services with the settings of candidates, and measures them under load. */

import { closedLoop, openLoop, type ClosedLoop, type Send } from '../load/drive.ts'
import { poissonArrivals, type MixPart } from '../load/mix.ts'
import { startOwnService, type OwnService } from '../load/own-service.ts'
import { seededRandom } from '../../test/support/basics/random.ts'
import { summarise } from '../load/summary.ts'
import { prepareRequests } from '../load/winnow-requests.ts'
import { watchUsage } from '../process-usage.ts'
import { round } from '../report.ts'
import { isSaturated } from '../statistics/saturation.ts'
import { connectEngine, type EngineStats } from '../../shared/engine-control.ts'
import { keyOf, type Candidate } from './candidates.ts'

/** Services kept running; idle ones hardly slow the one that is measured. */
const ALIVE_MAX = 3
const IN_FLIGHT_MAX = 5_000
/** Requests in flight after that are canceled, and count as unfinished. */
const DRAIN_MS = 30_000

/** Result of requests sent all at once, or one after another. */
export interface WorkResult {
  wall_seconds: number
  audio_seconds_per_second: number
  completed: number
  errors: Record<string, number>
  latency_ms: { p50: number; p95: number; mean: number }
  cpu_seconds: number
  peak_bytes: number
  lanes_of_batch: number
  /** Share of the time in which the compute thread was busy. */
  computing_share: number
}

/** Result of requests that arrive at random. */
export interface RateResult extends Omit<WorkResult, 'wall_seconds'> {
  requests_per_second: number
  saturated: boolean
}

interface RunningService {
  service: OwnService
  send: Send
}

/** Starts services when they are needed, and ends the least recently used ones. */
export class Services {
  readonly #mix: readonly MixPart[]
  readonly #warmUp: readonly number[]
  readonly #alive = new Map<string, RunningService>()

  /**
   * @param warmUp work that every new service does first, because the first batches of a shape are
   * slow
   */
  constructor(mix: readonly MixPart[], warmUp: readonly number[]) {
    this.#mix = mix
    this.#warmUp = warmUp
  }

  /** Measures work with `concurrency` requests in flight. */
  async work(
    candidate: Candidate,
    work: readonly number[],
    concurrency: number,
  ): Promise<WorkResult> {
    const { service, send } = await this.#of(candidate)
    const measured = await observe(service, () => closedLoop(work, concurrency, send))
    return { wall_seconds: round(measured.value.wallSeconds), ...resultOf(measured) }
  }

  /**
   * Measures Poisson arrivals.
   * @param seed of the arrivals; the same for candidates that are compared
   */
  async rate(
    candidate: Candidate,
    { perSecond, seconds, seed }: { perSecond: number; seconds: number; seed: number },
  ): Promise<RateResult> {
    const { service, send } = await this.#of(candidate)
    const arrivals = poissonArrivals(this.#mix, perSecond, seconds, seededRandom(seed))
    const limits = { drainMs: DRAIN_MS, inFlightMax: IN_FLIGHT_MAX }
    const measured = await observe(service, async () => {
      const startedAt = performance.now()
      const outcomes = await openLoop(arrivals, send, limits)
      return { outcomes, wallSeconds: (performance.now() - startedAt) / 1_000 }
    })
    const saturated = isSaturated(measured.value.outcomes, 1_000 * seconds)
    return { requests_per_second: round(perSecond), saturated, ...resultOf(measured) }
  }

  async end(): Promise<void> {
    for (const [key, { service }] of this.#alive) {
      this.#alive.delete(key)
      await service.end()
    }
  }

  async #of(candidate: Candidate): Promise<RunningService> {
    const key = keyOf(candidate)
    const running = this.#alive.get(key) ?? (await this.#start(candidate))
    this.#alive.delete(key)
    this.#alive.set(key, running) // moves it to the end, so that the map is in order of last use
    return running
  }

  async #start(candidate: Candidate): Promise<RunningService> {
    const [oldest] = this.#alive
    if (oldest && this.#alive.size >= ALIVE_MAX) {
      this.#alive.delete(oldest[0])
      await oldest[1].service.end()
    }
    const service = await startOwnService(candidate)
    const { url } = service.winnow
    const send = await prepareRequests({ url, apiKey: service.apiKey }, this.#mix)
    await closedLoop(this.#warmUp, this.#warmUp.length, send)
    return { service, send }
  }
}

interface WorkMeasurement {
  value: ClosedLoop
  cpuSeconds: number
  peakBytes: number
  before: EngineStats
  after: EngineStats
}

/** Runs the load, and measures the processes and the engine's counters during it. */
async function observe(
  { winnow }: OwnService,
  run: () => Promise<ClosedLoop>,
): Promise<WorkMeasurement> {
  const engine = connectEngine(winnow.engines[0]!.ready.control ?? '')
  try {
    const before = await engine.stats()
    const programs = [winnow.gateway.child, winnow.engines[0]!.child, winnow.nats.process]
    const endUsage = watchUsage(programs.flatMap(({ pid }) => pid ?? []))
    const value = await run()
    return { value, ...endUsage(), before, after: await engine.stats() }
  } finally {
    engine.close()
  }
}

function resultOf({ value, cpuSeconds, peakBytes, before, after }: WorkMeasurement) {
  const { outcomes, wallSeconds } = value
  const summary = summarise(outcomes)
  const { p50, p95, mean } = summary.latency_ms
  const steps = after.steps_total - before.steps_total
  const busySeconds = after.busy_seconds_total - before.busy_seconds_total
  return {
    audio_seconds_per_second: summary.audio_seconds_per_second,
    completed: summary.completed,
    errors: summary.errors,
    latency_ms: { p50, p95, mean },
    cpu_seconds: round(cpuSeconds),
    peak_bytes: peakBytes,
    lanes_of_batch: round((after.lane_steps_total - before.lane_steps_total) / Math.max(1, steps)),
    computing_share: round(busySeconds / wallSeconds),
  }
}
