/** What the tagger says of a whole file: of each sound that it knows, by its English name. */

import { HEARD_SPANS_MAX } from '../../shared/heard-sounds.ts'
import type { CombinedRule, TaggerConfig } from '../../models/tagger/config.ts'
import {
  calibrated,
  FileTags,
  grouped,
  STEP_SECONDS,
  type TaggerAnswer,
} from '../../models/tagger/decisions.ts'

/** A file's logits of all classes, [steps · classes], before calibration. */
export interface Tags {
  logits: Float32Array
  /** As samples of the file's rate make it: about half a second. */
  stepSeconds: number
  /** Length of the file. */
  seconds: number
}

/** Seconds from the start of a file. */
export interface TimeSpan {
  start: number
  end: number
}

/** A sound that the tagger knows, in one file. */
export interface TaggedSound {
  /** By the tagger alone, as `probability`. */
  state: TaggerAnswer['state']
  /** That it is there, from 0 to 1. */
  probability: number
  /** A logit. */
  evidence: number
  /** Joins the evidence with a separation's match. */
  combined: CombinedRule
  /** The surest other sound of its family that is found; null: none is. */
  relative: string | null
  /** Where it is if it is there; at least one, in order, at most HEARD_SPANS_MAX. */
  spans: TimeSpan[]
  /** The part of the file that they are, from 0 to 1. */
  share: number
  /** Length of the file. */
  seconds: number
}

/** Sounds that people ask for by other names; several: whichever is surest. */
const CALLED: Readonly<Record<string, readonly string[]>> = {
  // Models for songs take whoever speaks in one for its vocals, too.
  vocals: ['singing', 'voice'],
  'white noise': ['noise'],
}

export class TaggedFile {
  readonly config: TaggerConfig
  readonly #tags: Tags
  readonly #classes: FileTags
  readonly #groups: FileTags

  constructor(tags: Tags, config: TaggerConfig) {
    const { classes, groups } = config
    const logits = { values: tags.logits, width: classes.names.length }
    const ofClasses = calibrated(logits, classes.calibration)
    const any = grouped(ofClasses, groups.members, groups.calibration.most)
    const none = groups.names.map(() => [])
    this.config = config
    this.#tags = tags
    this.#classes = new FileTags(ofClasses, classes.relatives, classes.rules)
    this.#groups = new FileTags(calibrated(any, groups.calibration), none, groups.rules)
  }

  /** The sound that is called so; null: the tagger does not know it, or the file is empty. */
  sound(name: string): TaggedSound | null {
    const names = Object.hasOwn(CALLED, name) ? CALLED[name]! : [name]
    const sounds = names.flatMap((each) => this.#called(each) ?? [])
    const [first = null, ...others] = sounds
    return others.reduce((best, one) => (one.probability > best!.probability ? one : best), first)
  }

  #called(name: string): TaggedSound | null {
    if (this.#tags.logits.length === 0) return null
    const { classes, groups } = this.config
    const [asClass, asGroup] = [classes.names.indexOf(name), groups.names.indexOf(name)]
    if (asClass >= 0) return this.#sound(this.#classes, classes, asClass)
    return asGroup >= 0 ? this.#sound(this.#groups, groups, asGroup) : null
  }

  #sound(
    tags: FileTags,
    { names, combined, alone }: TaggerConfig['classes'] | TaggerConfig['groups'],
    place: number,
  ): TaggedSound {
    const { state, evidence } = tags.answer(place)
    const relative = tags.relative(place)
    const { spans, share } = tags.times(place)
    const { stepSeconds, seconds } = this.#tags
    const timed = spans.map(({ start, end }) => ({
      start: rounded((start / STEP_SECONDS) * stepSeconds),
      end: rounded(Math.min(seconds, (end / STEP_SECONDS) * stepSeconds)),
    }))
    return {
      state,
      probability: probabilityOf(alone.tagger * evidence + alone.offset),
      evidence,
      combined,
      relative: relative === null ? null : names[relative]!,
      spans: fewSpans(timed),
      share,
      seconds,
    }
  }
}

/** The probability, from 0 to 1, to four decimals. @param logit the logarithm of its odds */
export const probabilityOf = (logit: number): number =>
  Math.round(10_000 / (1 + Math.exp(-logit))) / 10_000

const rounded = (seconds: number): number => Math.round(100 * seconds) / 100

/** At most HEARD_SPANS_MAX: those are joined that have the smallest gaps between them. */
export function fewSpans(spans: readonly TimeSpan[]): TimeSpan[] {
  const gaps = spans.slice(1).map(({ start }, i) => start - spans[i]!.end)
  const kept = new Set(
    gaps
      .map((_, i) => i)
      .sort((a, b) => gaps[b]! - gaps[a]!)
      .slice(0, HEARD_SPANS_MAX - 1),
  )
  const few: TimeSpan[] = []
  for (const [i, span] of spans.entries()) {
    const last = few.at(-1)
    if (last && !kept.has(i - 1)) last.end = span.end
    else few.push({ ...span })
  }
  return few
}
