/**
 * A hill climb over settings with noisy measurements: compares a candidate with its neighbours in
 * turns, and moves to one that gains significantly. (The "quick" search of Triton's Model Analyzer,
 * with paired turns and bootstrap intervals.)
 */

import { pairedRatio, type Interval } from '../statistics/bootstrap.ts'
import { keyOf, type Candidate, type Knob } from './candidates.ts'

/** Smaller gains do not count. */
export const GAIN_MIN = 0.03
/** Turns of a comparison. From `least` on, it ends early once the interval is clear. */
const TURNS = { least: 4, most: 7 }
/** Stands for a speed of 0, whose logarithm does not exist. */
const NOTHING = 1e-9

export interface SearchOptions {
  knobs: readonly Knob[]
  start: Candidate
  /**
   * Measures a candidate in one turn. More is better; 0 means that it failed.
   * @param turn differs between comparisons
   */
  measure(candidate: Candidate, turn: number): Promise<number>
  /** Called before every comparison. */
  hasTimeLeft(): boolean
}

export interface RankedCandidate {
  candidate: Candidate
  /** Speed as a multiple of the start's: the product of the ratios along the climb. */
  score: number
  /** Compared with the best candidate at that time. */
  ratio: Interval
  turns: number
}

export interface SearchResult {
  /** Best first, including the start. */
  ranking: RankedCandidate[]
  ended: 'converged' | 'out of time'
}

export async function climb(options: SearchOptions): Promise<SearchResult> {
  const { knobs, start, hasTimeLeft } = options
  const one = { estimate: 1, low: 1, high: 1 }
  const ranked = new Map<string, RankedCandidate>()
  ranked.set(keyOf(start), { candidate: start, score: 1, ratio: one, turns: 0 })
  const comparison = new Comparison(options)
  let best = start
  let unchanged = 0 // knobs in a row without a gain
  for (let k = 0; unchanged < knobs.length; k = (k + 1) % knobs.length) {
    let moved = false
    let neighbours = neighboursOf(best, knobs[k]!, [-1, 1])
    while (neighbours.length > 0) {
      const untried = neighbours.filter(({ candidate }) => !ranked.has(keyOf(candidate)))
      if (untried.length === 0) break
      if (!hasTimeLeft()) return { ranking: sorted(ranked), ended: 'out of time' }
      const { score } = ranked.get(keyOf(best))!
      const compared = await comparison.of(
        best,
        untried.map(({ candidate }) => candidate),
      )
      for (const { candidate, ratio, turns } of compared) {
        ranked.set(keyOf(candidate), { candidate, score: score * ratio.estimate, ratio, turns })
      }
      const better = compared.filter(isBetter).sort((a, b) => b.ratio.estimate - a.ratio.estimate)
      const winner = untried.find(({ candidate }) => candidate === better[0]?.candidate)
      if (!winner) break
      best = winner.candidate
      moved = true
      neighbours = neighboursOf(best, knobs[k]!, [winner.direction])
    }
    unchanged = moved ? 0 : unchanged + 1
  }
  return { ranking: sorted(ranked), ended: 'converged' }
}

const sorted = (ranked: ReadonlyMap<string, RankedCandidate>): RankedCandidate[] =>
  [...ranked.values()].sort((a, b) => b.score - a.score)

interface CandidateRatio {
  candidate: Candidate
  ratio: Interval
  turns: number
}

const isBetter = ({ ratio }: CandidateRatio): boolean =>
  ratio.low > 1 && ratio.estimate >= 1 + GAIN_MIN

/** Compares candidates with the best one in turns, each until its result is clear. */
class Comparison {
  readonly #measure: SearchOptions['measure']
  #turn = 0

  constructor({ measure }: SearchOptions) {
    this.#measure = measure
  }

  async of(best: Candidate, others: readonly Candidate[]): Promise<CandidateRatio[]> {
    const baseline: number[] = []
    const trials = others.map((candidate) => ({ candidate, values: [] as number[] }))
    let open = trials
    for (let turn = 0; turn < TURNS.most && open.length > 0; turn += 1) {
      const all = [{ candidate: best, values: baseline }, ...open]
      // Alternates the order, so that a machine that warms up or slows down affects all equally.
      if (turn % 2 === 1) all.reverse()
      for (const { candidate, values } of all) {
        values.push(Math.max(NOTHING, await this.#measure(candidate, this.#turn)))
      }
      this.#turn += 1
      if (turn + 1 >= TURNS.least) open = open.filter(({ values }) => !isDecided(values, baseline))
    }
    return trials.map(({ candidate, values }) => ({
      candidate,
      ratio: pairedRatio(values, baseline),
      turns: values.length,
    }))
  }
}

/** Returns whether more turns would not change the verdict. */
function isDecided(values: readonly number[], baseline: readonly number[]): boolean {
  const { estimate, low, high } = pairedRatio(values, baseline)
  return high < 1 + GAIN_MIN || (low > 1 && estimate >= 1 + GAIN_MIN)
}

function neighboursOf(candidate: Candidate, { name, levels }: Knob, directions: readonly number[]) {
  const at = levels.indexOf(candidate[name]!)
  return directions.flatMap((direction) => {
    const level = levels[at + direction]
    return level === undefined ? [] : [{ candidate: { ...candidate, [name]: level }, direction }]
  })
}
