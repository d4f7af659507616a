/**
 * Decides from a file's logits whether a sound is in it, where, and what else it may be
 * (`tagger/decisions.py` of the training; computes without TensorFlow).
 *
 * Evidence is no maximum over the file, or a longer file would find more: it is the logarithm of
 * the mean odds, so that a step counts as one of so many.
 */

/** A step is half a second. */
export const STEP_SECONDS = 0.5
/** Share that each neighbour contributes to a step's smoothed logit. */
const NEIGHBOUR_SHARE = 0.25
const OWN_SHARE = 0.5

/** Logits of all steps, one after the other, [steps · width]. */
export interface StepLogits {
  values: Float64Array
  width: number
}

/** Numbers found by calibration. Logits are natural logarithms of odds. */
export interface TaggerRules {
  /** Exponent of the odds before the mean is taken; larger values come closer to the maximum. */
  sharpness: number
  /** With 1, a step counts as one of many; with 0, a longer file has more evidence. */
  length: number
  /** By what share of a relative's lead beyond the margin a sound's logit is lowered. */
  discount: number
  margin: number
  /** Evidence from which a sound counts as found, and below which it is absent. */
  found: number
  absent: number
  /** Logit that a span must reach somewhere, and must keep throughout. */
  begins: number
  goesOn: number
  /** Gaps of up to this many steps are bridged. */
  gapSteps: number
}

/** When a sound is heard, or may be. */
export interface Times {
  /** Seconds from the start of the file. */
  spans: { start: number; end: number }[]
  /** The share of the file that the spans cover, from 0 to 1. */
  share: number
}

export interface TaggerAnswer extends Times {
  state: 'found' | 'similar' | 'unsure' | 'absent'
  /** A logit. */
  evidence: number
  /** The relative that explains what is heard; null unless `state` is `similar`. */
  similarTo: number | null
}

/**
 * Returns logits whose sigmoid is a probability.
 * @param most the limit of each logit, in both directions
 */
export function calibrate(
  { values, width }: { values: ArrayLike<number>; width: number },
  {
    scales,
    offsets,
    most,
  }: { scales: readonly number[]; offsets: readonly number[]; most: number },
): StepLogits {
  const calibrated = new Float64Array(values.length)
  for (let i = 0; i < calibrated.length; i += 1) {
    const logit = values[i]! * scales[i % width]! + offsets[i % width]!
    calibrated[i] = Math.min(most, Math.max(-most, logit))
  }
  return { values: calibrated, width }
}

/** Returns logits of whether any member of each group sounds, assuming independence (noisy or). */
export function groupLogits(
  logits: StepLogits,
  members: readonly (readonly number[])[],
  most: number,
): StepLogits {
  const steps = logits.values.length / logits.width
  const values = new Float64Array(steps * members.length)
  for (let step = 0; step < steps; step += 1) {
    for (const [group, places] of members.entries()) {
      const all = places.reduce(
        (sum, place) => sum - softplus(logits.values[step * logits.width + place]!),
        0,
      )
      const absent = Math.min(all, -1e-9)
      const logit = Math.log(-Math.expm1(absent)) - absent
      values[step * members.length + group] = Math.min(most, Math.max(-most, logit))
    }
  }
  return { values, width: members.length }
}

const softplus = (x: number): number => Math.max(x, 0) + Math.log1p(Math.exp(-Math.abs(x)))

/** Answers for each class or group of a file. */
export class FileTags {
  readonly #smooth: StepLogits
  readonly #relatives: readonly (readonly number[])[]
  readonly #rules: TaggerRules
  readonly #remaining = new Map<number, RemainingLogits>()

  /**
   * @param logits calibrated, for the whole file
   * @param relatives for each class, others that sound similar
   */
  constructor(logits: StepLogits, relatives: readonly (readonly number[])[], rules: TaggerRules) {
    this.#smooth = smoothLogits(logits)
    this.#relatives = relatives
    this.#rules = rules
  }

  /** Returns the answer for the class with index `place`. */
  answer(place: number): TaggerAnswer {
    const rules = this.#rules
    const { logits, evidence } = this.#remainingOf(place)
    const plain = evidenceOf(columnOf(this.#smooth, place), rules)
    const relative = this.relative(place)
    const state = stateOf(plain, evidence, relative !== null, rules)
    const mayBe = state === 'found' || state === 'unsure'
    return {
      state,
      evidence,
      similarTo: state === 'similar' ? relative : null,
      ...timesOf(mayBe ? spansOf(logits, rules) : [], logits.length),
    }
  }

  /** A logit. */
  evidence(place: number): number {
    return this.#remainingOf(place).evidence
  }

  /** Returns the most certain relative of a class that was found; null if none was. */
  relative(place: number, relatives = this.#relatives[place]!): number | null {
    let [surest, most]: [number | null, number] = [null, -Infinity]
    for (const at of relatives) {
      const evidence = this.evidence(at)
      if (evidence > most) [surest, most] = [at, evidence]
    }
    return most >= this.#rules.found ? surest : null
  }

  /**
   * Returns when the sound is heard if it is in the file at all, at least where it is most certain.
   */
  times(place: number): Times {
    const { logits } = this.#remainingOf(place)
    const { begins, goesOn } = this.#rules
    const surest = logits.reduce((max, one) => Math.max(max, one), -Infinity)
    const lower = Math.max(0, begins - surest)
    const rules = { ...this.#rules, begins: begins - lower, goesOn: goesOn - lower }
    return timesOf(spansOf(logits, rules), logits.length)
  }

  #remainingOf(place: number): RemainingLogits {
    const cached = this.#remaining.get(place)
    if (cached) return cached
    const logits = discountRelatives(this.#smooth, place, this.#relatives[place]!, this.#rules)
    const remaining = { logits, evidence: evidenceOf(logits, this.#rules) }
    this.#remaining.set(place, remaining)
    return remaining
  }
}

/** The logits of a class, reduced by what its relatives explain. */
interface RemainingLogits {
  logits: Float64Array
  evidence: number
}

/**
 * `plain` is the evidence for a sound, and `remaining` is what is left of it after its relatives.
 */
function stateOf(
  plain: number,
  remaining: number,
  hasRelative: boolean,
  { found, absent }: TaggerRules,
): TaggerAnswer['state'] {
  if (remaining >= found) return 'found'
  if (plain < absent) return 'absent'
  return hasRelative ? 'similar' : 'unsure'
}

/** Averages each step with its neighbours, of which the first and last have only one. */
function smoothLogits({ values, width }: StepLogits): StepLogits {
  const smooth = new Float64Array(values.length)
  for (let i = 0; i < values.length; i += 1) {
    let [sum, weight] = [OWN_SHARE * values[i]!, OWN_SHARE]
    if (i >= width)
      [sum, weight] = [sum + NEIGHBOUR_SHARE * values[i - width]!, weight + NEIGHBOUR_SHARE]
    if (i + width < values.length)
      [sum, weight] = [sum + NEIGHBOUR_SHARE * values[i + width]!, weight + NEIGHBOUR_SHARE]
    smooth[i] = sum / weight
  }
  return { values: smooth, width }
}

/** Returns the logits of one class for all steps. */
const columnOf = ({ values, width }: StepLogits, place: number): Float64Array =>
  Float64Array.from({ length: values.length / width }, (_, step) => values[step * width + place]!)

/**
 * Returns the logits of a class, lowered where a relative is more certain, because that explains
 * what is heard.
 */
function discountRelatives(
  smooth: StepLogits,
  place: number,
  relatives: readonly number[],
  { discount, margin }: TaggerRules,
): Float64Array {
  const logits = columnOf(smooth, place)
  if (relatives.length === 0 || discount === 0) return logits
  return logits.map((logit, step) => {
    const surest = Math.max(...relatives.map((at) => smooth.values[step * smooth.width + at]!))
    return logit - discount * Math.max(0, surest - logit - margin)
  })
}

/** Returns the logarithm of the power mean of the odds. */
function evidenceOf(logits: Float64Array, { sharpness, length }: TaggerRules): number {
  const most = sharpness * logits.reduce((max, one) => Math.max(max, one), -Infinity)
  const sum = logits.reduce((total, one) => total + Math.exp(sharpness * one - most), 0)
  return (most + Math.log(sum) - length * Math.log(logits.length)) / sharpness
}

type Run = [start: number, end: number]

const timesOf = (runs: readonly Run[], steps: number): Times => ({
  spans: runs.map(([start, end]) => ({ start: start * STEP_SECONDS, end: end * STEP_SECONDS })),
  share: runs.reduce((sum, [start, end]) => sum + end - start, 0) / steps,
})

/**
 * Returns runs of steps that stay above `goesOn` and reach `begins` somewhere, with gaps bridged.
 */
function spansOf(logits: Float64Array, { begins, goesOn, gapSteps }: TaggerRules): Run[] {
  const runs: Run[] = []
  let start = -1
  for (let step = 0; step <= logits.length; step += 1) {
    const isOn = step < logits.length && logits[step]! >= goesOn
    if (isOn && start < 0) start = step
    if (isOn || start < 0) continue
    if (logits.subarray(start, step).some((logit) => logit >= begins)) runs.push([start, step])
    start = -1
  }
  return runs.reduce<Run[]>((joined, run) => {
    const last = joined.at(-1)
    if (last && run[0] - last[1] <= gapSteps) last[1] = run[1]
    else joined.push([...run])
    return joined
  }, [])
}
