/** What the tagger found in a whole file, for each sound that it knows, by its English name. */

import { HEARD_SPANS_MAX } from '../../../shared/heard-sounds.ts'
import type { CombinedRule, TaggerConfig } from '../../../models/tagger/config.ts'
import {
  calibrate,
  FileTags,
  groupLogits,
  STEP_SECONDS,
  type TaggerAnswer,
} from '../../../models/tagger/decisions.ts'

/** Logits of all classes in a file, [steps · classes], before calibration. */
export interface Tags {
  logits: Float32Array
  /** About half a second, exactly as the file's sample rate allows. */
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
  /** From the tagger alone, based on `probability`. */
  state: TaggerAnswer['state']
  /**
   * The probability from 0 to 1 that the sound is present, assuming that half of the sounds that
   * people ask for are present.
   */
  probability: number
  /**
   * The same for a sound that nobody asked for. It is lower, because almost all sounds are absent
   * from any one file.
   */
  unasked: number
  /** A logit. */
  evidence: number
  /** How to combine the evidence with the match of a separation. */
  combined: CombinedRule
  /**
   * The similar sound that is most certainly present, if it is more certain than this one;
   * otherwise null.
   */
  relative: string | null
  /** Where it would be, if it is present; from one to HEARD_SPANS_MAX spans, in order. */
  spans: TimeSpan[]
  /** The share of the file that the spans cover, from 0 to 1. */
  share: number
  /** Length of the file. */
  seconds: number
}

/** Sounds that people call by other names; if there are several, the most certain one counts. */
const ALIASES: Readonly<Record<string, readonly string[]>> = {
  // Models for songs count a speaker in one as vocals, too.
  vocals: ['singing', 'voice'],
  'white noise': ['noise'],
}

/** Only instruments may have more relatives than this, because a flute does not resemble a drum. */
const RELATIVES_MAX = 16

export class TaggedFile {
  readonly config: TaggerConfig
  readonly #tags: Tags
  readonly #classes: FileTags
  readonly #groups: FileTags
  /** For each class, the other classes that sound similar. */
  readonly #close: readonly (readonly number[])[]

  constructor(tags: Tags, config: TaggerConfig) {
    const { classes, groups } = config
    const logits = { values: tags.logits, width: classes.names.length }
    const ofClasses = calibrate(logits, classes.calibration)
    const any = groupLogits(ofClasses, groups.members, groups.calibration.most)
    const none = groups.names.map(() => [])
    this.config = config
    this.#close = closeRelatives(config)
    this.#tags = tags
    this.#classes = new FileTags(ofClasses, classes.relatives, classes.rules)
    this.#groups = new FileTags(calibrate(any, groups.calibration), none, groups.rules)
  }

  /** Returns the sound of this name; null if the tagger does not know it or the file is empty. */
  sound(name: string): TaggedSound | null {
    const names = Object.hasOwn(ALIASES, name) ? ALIASES[name]! : [name]
    const sounds = names.flatMap((alias) => this.#called(alias) ?? [])
    const [first = null, ...others] = sounds
    return others.reduce(
      (best, sound) => (sound.probability > best!.probability ? sound : best),
      first,
    )
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
    { names, combined, alone, listed }: TaggerConfig['classes'] | TaggerConfig['groups'],
    place: number,
  ): TaggedSound {
    const { state, evidence } = tags.answer(place)
    const relative = tags === this.#classes ? this.#relativeOf(place, evidence) : null
    const { spans, share } = tags.times(place)
    const { stepSeconds, seconds } = this.#tags
    const timed = spans.map(({ start, end }) => ({
      start: roundSeconds((start / STEP_SECONDS) * stepSeconds),
      end: roundSeconds(Math.min(seconds, (end / STEP_SECONDS) * stepSeconds)),
    }))
    return {
      state: state === 'similar' && relative === null ? 'unsure' : state,
      probability: probabilityOf(alone.tagger * evidence + alone.offset),
      unasked: probabilityOf(listed.tagger * evidence + listed.offset),
      evidence,
      combined,
      relative: relative === null ? null : names[relative]!,
      spans: fewSpans(timed),
      share,
      seconds,
    }
  }

  #relativeOf(place: number, evidence: number): number | null {
    const relative = this.#classes.relative(place, this.#close[place]!)
    return relative !== null && this.#classes.evidence(relative) > evidence ? relative : null
  }
}

/** For each class, the similar ones: if it has many relatives, those in its smallest group. */
function closeRelatives({ classes, groups }: TaggerConfig): (readonly number[])[] {
  return classes.relatives.map((relatives, place) => {
    if (relatives.length <= RELATIVES_MAX) return relatives
    const small = groups.members.find(
      (members) => members.length <= RELATIVES_MAX && members.includes(place),
    )
    return (small ?? []).filter((other) => other !== place)
  })
}

/**
 * Returns a probability from 0 to 1 with four decimals.
 * @param logit the logarithm of its odds
 */
export const probabilityOf = (logit: number): number =>
  Math.round(10_000 / (1 + Math.exp(-logit))) / 10_000

const roundSeconds = (seconds: number): number => Math.round(100 * seconds) / 100

/** Merges spans that overlap or touch, and sorts them. */
export function mergeSpans(spans: readonly TimeSpan[]): TimeSpan[] {
  const merged: TimeSpan[] = []
  for (const span of [...spans].sort((a, b) => a.start - b.start)) {
    const last = merged.at(-1)
    if (last && span.start <= last.end) last.end = Math.max(last.end, span.end)
    else merged.push({ ...span })
  }
  return merged
}

/** Reduces spans to at most HEARD_SPANS_MAX by closing the smallest gaps. */
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
