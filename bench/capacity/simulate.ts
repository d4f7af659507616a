/**
 * A fleet of engines by the theory of queues: requests come at random, wait in one queue, and are
 * leased by engines with room; an engine's jobs share it. Engines fail, drain and start cold.
 */

import { drawLength, type MixPart } from '../load/mix.ts'
import { exponential, seededRandom } from '../../test/support/basics/random.ts'
import type { Line } from '../statistics/fit.ts'
import { Timeline } from './heap.ts'

/** Seconds that a job of so many seconds of media takes, both as lines. */
export interface ServiceTimes {
  /** For a job that has the engine to itself. */
  alone: Line
  /** Time of an engine that always has several. */
  demand: Line
}

export interface Fleet {
  engines: number
  /** Jobs of an engine at once. */
  jobsMax: number
  service: ServiceTimes
  /** From its start until an engine takes jobs. */
  coldStartSeconds: number
  /** Mean time until an engine fails; its jobs come back when their leases lapse. */
  failureHours?: number
  leaseSeconds: number
  /** Every engine is drained and restarted once in so long, one after another. */
  deployHours?: number
  drainSeconds: number
}

export interface Demand {
  mix: readonly MixPart[]
  perSecond: number
  /** For which requests arrive; the first tenth is not counted. */
  seconds: number
  seed: number
}

export interface SimulationResult {
  requests: number
  p50: number
  p95: number
  p99: number
  /** Share of the engines' time that was worked. */
  utilisation: number
  /** Jobs begun again, for their engine had failed or was drained. */
  repeated: number
  /** The longest queue. */
  queueMax: number
}

interface Job {
  arrivedAt: number
  audioSeconds: number
  /** Work left, in seconds of an engine to itself. */
  left: number
  /** The share of an engine that it uses when nothing holds it up. */
  share: number
}

type SimulationEvent =
  | { what: 'arrival' }
  | { what: 'back'; jobs: Job[] }
  | { what: 'ready' | 'failure' | 'drain' | 'drained'; engine: Engine; life: number }
  | { what: 'end'; engine: Engine; turn: number }

interface Engine {
  jobs: Set<Job>
  isUp: boolean
  isDraining: boolean
  /** Raised by each start: what was planned for an earlier life is void. */
  life: number
  /** Raised by each change of its jobs: an end that was planned before is void. */
  turn: number
  advancedAt: number
  workedSeconds: number
}

const WARM_UP_SHARE = 0.1
const HOUR_SECONDS = 3_600
/** Requests whose ends are awaited at the most, as a multiple of the time that they arrive. */
const OVERTIME = 3

export function simulate(fleet: Fleet, demand: Demand): SimulationResult {
  return new Simulation(fleet, demand).run()
}

class Simulation {
  readonly #fleet: Fleet
  readonly #demand: Demand
  readonly #random: () => number
  readonly #timeline = new Timeline<SimulationEvent>()
  readonly #queue: Job[] = []
  readonly #engines: Engine[]
  /** Engines that have room, in the order in which they asked. */
  #asking: Engine[] = []
  readonly #latencies: number[] = []
  #now = 0
  #unfinished = 0
  #repeated = 0
  #queueMax = 0

  constructor(fleet: Fleet, demand: Demand) {
    this.#fleet = fleet
    this.#demand = demand
    this.#random = seededRandom(demand.seed)
    this.#engines = Array.from({ length: fleet.engines }, () => ({
      jobs: new Set<Job>(),
      isUp: false,
      isDraining: false,
      life: 0,
      turn: 0,
      advancedAt: 0,
      workedSeconds: 0,
    }))
  }

  run(): SimulationResult {
    const { seconds } = this.#demand
    for (const engine of this.#engines) this.#up(engine)
    this.#planDeploy()
    this.#planArrival()
    for (let next = this.#timeline.next(); next; next = this.#timeline.next()) {
      const isOver = next.at > seconds && this.#unfinished === 0
      if (isOver || next.at > OVERTIME * seconds) break
      this.#now = next.at
      this.#happen(next.value)
    }
    const sorted = Float64Array.from(this.#latencies).sort()
    const at = (share: number) => sorted[Math.round(share * (sorted.length - 1))] ?? Infinity
    const worked = this.#engines.reduce((sum, { workedSeconds }) => sum + workedSeconds, 0)
    return {
      requests: sorted.length,
      // A job that never ended counts as longest.
      p50: at(0.5),
      p95: this.#unfinished > 0.05 * sorted.length ? Infinity : at(0.95),
      p99: this.#unfinished > 0.01 * sorted.length ? Infinity : at(0.99),
      utilisation: worked / this.#engines.length / this.#now,
      repeated: this.#repeated,
      queueMax: this.#queueMax,
    }
  }

  #happen(happening: SimulationEvent): void {
    switch (happening.what) {
      case 'arrival':
        this.#arrive()
        break
      case 'back':
        this.#giveBack(happening.jobs)
        break
      case 'end':
        if (happening.turn === happening.engine.turn) this.#finish(happening.engine)
        break
      default:
        if (happening.life === happening.engine.life) this.#change(happening.what, happening.engine)
    }
    this.#dispatch()
  }

  #change(what: 'ready' | 'failure' | 'drain' | 'drained', engine: Engine): void {
    const { leaseSeconds, drainSeconds, coldStartSeconds } = this.#fleet
    if (what === 'ready') this.#up(engine)
    if (what === 'failure') {
      this.#down(engine, coldStartSeconds, leaseSeconds)
    }
    if (what === 'drain') {
      engine.isDraining = true
      if (engine.jobs.size === 0) this.#down(engine, coldStartSeconds, 0)
      else this.#plan(drainSeconds, { what: 'drained', engine, life: engine.life })
    }
    if (what === 'drained') this.#down(engine, coldStartSeconds, 0)
  }

  #up(engine: Engine): void {
    engine.isUp = true
    engine.isDraining = false
    engine.life += 1
    engine.advancedAt = this.#now
    const { failureHours } = this.#fleet
    if (failureHours !== undefined) {
      const after = failureHours * HOUR_SECONDS * exponential(this.#random)
      this.#plan(after, { what: 'failure', engine, life: engine.life })
    }
    for (let i = 0; i < this.#fleet.jobsMax; i += 1) this.#asking.push(engine)
  }

  /** Its jobs are to be had again after so long. */
  #down(engine: Engine, upAfter: number, backAfter: number): void {
    this.#advance(engine)
    engine.isUp = false
    engine.life += 1
    engine.turn += 1
    const jobs = [...engine.jobs]
    engine.jobs.clear()
    this.#asking = this.#asking.filter((asking) => asking !== engine)
    this.#plan(upAfter, { what: 'ready', engine, life: engine.life })
    if (jobs.length > 0) this.#plan(backAfter, { what: 'back', jobs })
  }

  #giveBack(jobs: readonly Job[]): void {
    this.#repeated += jobs.length
    for (const job of jobs) job.left = aloneSeconds(this.#fleet, job.audioSeconds)
    this.#queue.unshift(...jobs)
  }

  #arrive(): void {
    const audioSeconds = drawLength(this.#demand.mix, this.#random())
    const left = aloneSeconds(this.#fleet, audioSeconds)
    const { intercept, slope } = this.#fleet.service.demand
    const share = Math.min(1, (intercept + slope * audioSeconds) / left)
    this.#queue.push({ arrivedAt: this.#now, audioSeconds, left, share })
    this.#queueMax = Math.max(this.#queueMax, this.#queue.length)
    this.#unfinished += 1
    this.#planArrival()
  }

  #dispatch(): void {
    while (this.#queue.length > 0) {
      const engine = this.#asking.shift()
      if (!engine) return
      if (!engine.isUp || engine.isDraining) continue
      this.#advance(engine)
      engine.jobs.add(this.#queue.shift()!)
      this.#planEnd(engine)
    }
  }

  #finish(engine: Engine): void {
    this.#advance(engine)
    const { seconds } = this.#demand
    for (const job of engine.jobs) {
      if (job.left > 1e-9) continue
      engine.jobs.delete(job)
      this.#unfinished -= 1
      const isCounted = job.arrivedAt >= WARM_UP_SHARE * seconds && job.arrivedAt < seconds
      if (isCounted) this.#latencies.push(this.#now - job.arrivedAt)
      this.#asking.push(engine)
    }
    if (engine.isDraining && engine.jobs.size === 0) {
      this.#down(engine, this.#fleet.coldStartSeconds, 0)
    } else this.#planEnd(engine)
  }

  /** Brings the jobs of an engine to now. */
  #advance(engine: Engine): void {
    const passed = this.#now - engine.advancedAt
    engine.advancedAt = this.#now
    const shares = sharesOf(engine)
    engine.workedSeconds += passed * Math.min(1, shares)
    for (const job of engine.jobs) job.left -= passed / Math.max(1, shares)
  }

  #planEnd(engine: Engine): void {
    engine.turn += 1
    if (engine.jobs.size === 0) return
    let least = Infinity
    for (const { left } of engine.jobs) least = Math.min(least, left)
    const after = Math.max(0, least) * Math.max(1, sharesOf(engine))
    this.#plan(after, { what: 'end', engine, turn: engine.turn })
  }

  #planArrival(): void {
    const after = exponential(this.#random) / this.#demand.perSecond
    if (this.#now + after < this.#demand.seconds) this.#plan(after, { what: 'arrival' })
  }

  /** One engine after another, all within one interval. */
  #planDeploy(): void {
    const { deployHours, engines } = this.#fleet
    if (deployHours === undefined) return
    for (let i = 0; i < engines; i += 1) {
      const after = (deployHours * HOUR_SECONDS * (i + 0.5)) / engines
      const engine = this.#engines[i]!
      this.#plan(after, { what: 'drain', engine, life: engine.life })
    }
  }

  #plan(after: number, happening: SimulationEvent): void {
    this.#timeline.add(this.#now + after, happening)
  }
}

const sharesOf = ({ jobs }: Engine): number => {
  let sum = 0
  for (const { share } of jobs) sum += share
  return sum
}

const aloneSeconds = ({ service: { alone } }: Fleet, audioSeconds: number): number =>
  alone.intercept + alone.slope * audioSeconds

/** Requests a second that the engines could serve, were they always busy. */
export function fullRate({ engines, service: { demand } }: Fleet, meanSeconds: number): number {
  return engines / (demand.intercept + demand.slope * meanSeconds)
}
