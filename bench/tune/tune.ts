/** Runs a search from its first measurement to its recommendation. */

import { cpus } from 'node:os'
import { fixedWork, meanSeconds, type MixPart } from '../load/mix.ts'
import { pairedRatio, type Interval } from '../statistics/bootstrap.ts'
import { rateWithin } from '../statistics/saturation.ts'
import { defaultsOf, keyOf, knobsFor, candidateName, type Candidate } from './candidates.ts'
import type { Journal } from './journal.ts'
import { climb, GAIN_MIN, type SearchResult } from './search.ts'
import { Services, type RateResult, type WorkResult } from './services.ts'
import { fitSteps, measureSteps, type StepFit, type StepQuestion } from './step-times.ts'

export interface TuneOptions {
  mix: readonly MixPart[]
  minutes: number
  /** Limit on the 95th percentile of latency. */
  latencyMsMax: number
  journal: Journal
  /** Called before every measurement. */
  say(text: string): void
}

export interface Finalist {
  candidate: Candidate
  name: string
  /** All requests at once, in turns with the other finalists. */
  saturated: WorkResult[]
  /** Speed compared with that of the defaults. */
  ratio: Interval
  /** One request after another. */
  closed: WorkResult
  rates: RateResult[]
  /** The highest rate that kept the limit, in requests a second. */
  withinSlo: number | null
}

export interface TuneResult {
  defaults: Candidate
  fit: StepFit
  searchEnded: SearchResult['ended']
  finalists: Finalist[]
  winner: Finalist
}

/** How the time is divided. */
const SHARES = { steps: 0.12, turn: 1 / 120, searchUntil: 0.5 }
const FINALISTS = 3
const FINAL_TURNS = 4
/** Rates to measure, as shares of what the fastest finalist serves when saturated. */
const RATE_SHARES = [0.4, 0.6, 0.75, 0.9, 1.05]
const RATE_SECONDS = { least: 2, most: 120 }
/** Minimum; with fewer requests, hardly any would be batched or run at once. */
const REQUESTS_OF_TURN = 12
/** Assumed audio-seconds a second before anything is measured. */
const SPEED_GUESS = 20

export async function tune(options: TuneOptions): Promise<TuneResult> {
  const { minutes, journal } = options
  const secondsMax = 60 * minutes
  const steps = await journal.run({ phase: 'steps' }, () => {
    options.say('how long batches take')
    return measureSteps(stepQuestion(secondsMax))
  })
  const fit = fitSteps(steps.times)
  const knobs = knobsFor({
    cores: cpus().length,
    device: steps.model.device,
    chunkFrames: steps.model.chunkFrames,
    memory: { bytes: fit.memory, available: steps.model.memoryBytes },
  })
  const defaults = defaultsOf(knobs)
  const work = await turnWork(options, defaults)
  const services = new Services(options.mix, work)
  try {
    const saturated = (phase: string) => (candidate: Candidate, turn: number) =>
      journal.run({ phase, turn, candidate }, () => {
        options.say(`${phase} ${turn}: ${candidateName(candidate, defaults)}`)
        return services.work(candidate, work, work.length)
      })
    const search = await climb({
      knobs,
      start: defaults,
      hasTimeLeft: () => journal.elapsedSeconds < SHARES.searchUntil * secondsMax,
      measure: async (candidate, turn) => speedOf(await saturated('search')(candidate, turn)),
    })
    const candidates = finalistsOf(search, defaults)
    const finalists = await measureFinalists(candidates, {
      ...options,
      services,
      defaults,
      saturated: saturated('saturated'),
    })
    const winner = chooseWinner(finalists)
    return { defaults, fit, searchEnded: search.ended, finalists, winner }
  } finally {
    await services.end()
  }
}

function stepQuestion(secondsMax: number): StepQuestion {
  const shapes =
    secondsMax < 120
      ? { chunkShares: [0.25, 0.5], batches: [1, 2] }
      : secondsMax < 900
        ? { chunkShares: [0.5, 1], batches: [1, 2, 4, 8] }
        : { chunkShares: [0.25, 0.5, 1], batches: [1, 2, 4, 8, 16] }
  return { ...shapes, isWarm: secondsMax >= 120, secondsMax: SHARES.steps * secondsMax }
}

/**
 * Returns enough work for a turn to take its share of the time, given the speed of the defaults on
 * a small sample.
 */
async function turnWork(options: TuneOptions, defaults: Candidate): Promise<number[]> {
  const { mix, minutes, journal } = options
  const turnSeconds = Math.max(1, SHARES.turn * 60 * minutes)
  const little = fixedWork(mix, SPEED_GUESS * turnSeconds)
  const { audio_seconds_per_second: speed } = await journal.run(
    { phase: 'calibrate' },
    async () => {
      options.say('how fast the defaults are')
      const services = new Services(mix, little)
      try {
        return await services.work(defaults, little, little.length)
      } finally {
        await services.end()
      }
    },
  )
  return fixedWork(mix, Math.max(speed * turnSeconds, REQUESTS_OF_TURN * meanSeconds(mix)))
}

/** Returns the speed, or 0 if anything failed. */
const speedOf = ({ audio_seconds_per_second: speed, errors }: WorkResult): number =>
  Object.keys(errors).length === 0 ? speed : 0

/** Returns the best candidates, after the defaults that all are compared with. */
function finalistsOf({ ranking }: SearchResult, defaults: Candidate): Candidate[] {
  const best = ranking.slice(0, FINALISTS).map(({ candidate }) => candidate)
  const others = best.filter((candidate) => keyOf(candidate) !== keyOf(defaults))
  return [defaults, ...others]
}

interface FinalsOptions extends TuneOptions {
  services: Services
  defaults: Candidate
  saturated(candidate: Candidate, turn: number): Promise<WorkResult>
}

async function measureFinalists(
  candidates: readonly Candidate[],
  options: FinalsOptions,
): Promise<Finalist[]> {
  const { mix, services, journal, defaults, latencyMsMax } = options
  const saturated = new Map(candidates.map((candidate) => [candidate, [] as WorkResult[]]))
  for (let turn = 0; turn < FINAL_TURNS; turn += 1) {
    const inTurn = turn % 2 === 0 ? candidates : [...candidates].reverse()
    for (const candidate of inTurn) {
      saturated.get(candidate)!.push(await options.saturated(candidate, turn))
    }
  }
  const closed = new Map<Candidate, WorkResult>()
  for (const candidate of candidates) {
    const oneByOne = mix.map(({ seconds }) => seconds)
    const result = await journal.run({ phase: 'closed', candidate }, () => {
      options.say(`one by one: ${candidateName(candidate, defaults)}`)
      return services.work(candidate, oneByOne, 1)
    })
    closed.set(candidate, result)
  }
  const fastest = Math.max(...[...saturated.values()].map((results) => meanSpeed(results)))
  const rates = await measureRates(candidates, fastest / meanSeconds(mix), options)
  const baseline = saturated.get(candidates[0]!)!.map(speedOf)
  return candidates.map((candidate) => {
    const results = saturated.get(candidate)!
    const measured = rates.get(candidate)!
    const points = measured.map((result) => ({
      perSecond: result.requests_per_second,
      latencyMs: result.latency_ms.p95,
      isSaturated: result.saturated,
      failed: Object.keys(result.errors).length,
    }))
    return {
      candidate,
      name: candidateName(candidate, defaults),
      saturated: results,
      ratio: pairedRatio(results.map(speedOf), baseline),
      closed: closed.get(candidate)!,
      rates: measured,
      withinSlo: rateWithin(points, latencyMsMax),
    }
  })
}

const meanSpeed = (results: readonly WorkResult[]): number =>
  results.map(speedOf).reduce((sum, speed) => sum + speed, 0) / results.length

/** Measures rising rates, each for all candidates in turn, until a candidate saturates. */
async function measureRates(
  candidates: readonly Candidate[],
  perSecondMost: number,
  { services, journal, defaults, minutes, say }: FinalsOptions,
): Promise<Map<Candidate, RateResult[]>> {
  const left = 60 * minutes - journal.elapsedSeconds
  const secondsEach = left / (candidates.length * RATE_SHARES.length)
  const seconds = Math.round(Math.min(RATE_SECONDS.most, Math.max(RATE_SECONDS.least, secondsEach)))
  const results = new Map(candidates.map((candidate) => [candidate, [] as RateResult[]]))
  for (const [seed, share] of RATE_SHARES.entries()) {
    const perSecond = Number((share * perSecondMost).toPrecision(3))
    for (const candidate of candidates) {
      const measured = results.get(candidate)!
      if (measured.at(-1)?.saturated) continue
      const load = { perSecond, seconds, seed }
      const result = await journal.run({ phase: 'rate', ...load, candidate }, () => {
        say(`${perSecond} requests a second: ${candidateName(candidate, defaults)}`)
        return services.rate(candidate, load)
      })
      measured.push(result)
    }
  }
  return results
}

/**
 * Returns the defaults, unless a significantly faster candidate serves more requests within the
 * limit, or as many.
 */
function chooseWinner(finalists: readonly Finalist[]): Finalist {
  const [defaults, ...others] = finalists
  const isBetter = ({ withinSlo, ratio }: Finalist, than: Finalist) => {
    const more = (withinSlo ?? 0) - (than.withinSlo ?? 0)
    const isFaster = ratio.low > 1 && ratio.estimate >= 1 + GAIN_MIN
    if (!isFaster) return false
    return more > 0 || (more === 0 && ratio.estimate > than.ratio.estimate)
  }
  return others.reduce((best, other) => (isBetter(other, best) ? other : best), defaults!)
}
