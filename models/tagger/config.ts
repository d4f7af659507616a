/**
 * The tagger's sizes, calibration and rules, from the `config.json` next to its weights. Does not
 * load TensorFlow.
 */
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { readConfig } from '../mini/config.ts'
import { STEP_SECONDS, type TaggerRules } from './decisions.ts'
import { MEL_FEATURES } from './mel.ts'
import type { TaggerSizes } from './network.ts'

/** The tagger's name in lanes and batches. */
export const TAGGER = 'tagger'

/**
 * How many steps a piece has. Those at its ends only give context to the others, and neighbouring
 * pieces answer for them. So a minute and a half is one piece, and a long file is processed 1.08
 * times.
 */
export const PIECE_STEPS = 192

/** Scales and offsets that turn raw logits into logits of probabilities. */
export interface Calibration {
  scales: readonly number[]
  offsets: readonly number[]
  /** Logits are clipped to this, in both directions. */
  most: number
}

/** Combines the tagger's evidence and the match of a separation into a logit of presence. */
export interface CombinedRule {
  /** Exponent of the odds of a chunk's match before the mean is taken. */
  matchSharpness: number
  /** Weights of the evidence and the match, and the offset. */
  tagger: number
  match: number
  offset: number
  /** Logit from which a sound counts as found, and below which it is absent. */
  found: number
  absent: number
}

/** Turns the tagger's evidence alone into a logit of presence. */
export interface AloneRule {
  tagger: number
  offset: number
}

/** The rules for classes or for groups. */
interface DecisionConfig {
  /** What people call them; these are the names that the built-in model knows. */
  names: readonly string[]
  calibration: Calibration
  rules: TaggerRules
  combined: CombinedRule
  /** For sounds that were asked for, and for sounds that were not. */
  alone: AloneRule
  listed: AloneRule
}

export interface TaggerConfig {
  sizes: TaggerSizes
  /** How many steps a step depends on, on either side. */
  contextSteps: number
  classes: DecisionConfig & {
    /** For each class, other classes that sound similar. */
    relatives: readonly (readonly number[])[]
  }
  groups: DecisionConfig & {
    /** The classes of each group. */
    members: readonly (readonly number[])[]
  }
}

const pathOf = (name: string) => fileURLToPath(new URL(name, import.meta.url))

/**
 * Returns the configuration of the served weights.
 * @throws Error naming the file if it describes features, steps or sounds of another network, or
 *   lacks a rule
 */
export async function readTaggerConfig(): Promise<TaggerConfig> {
  const file = pathOf('weights/config.json')
  const config = JSON.parse(await readFile(file, 'utf8'))
  const expected = { ...MEL_FEATURES, step_seconds: STEP_SECONDS }
  const stated = { ...config.features, step_seconds: config.step_seconds }
  for (const [name, value] of Object.entries(expected)) {
    if (stated[name] !== value) {
      throw new Error(`${file}: ${name} must be ${value}, not ${stated[name]}`)
    }
  }
  const { names } = await readConfig(pathOf('../mini/weights/config.json'))
  const textsOf = (keys: string[]) =>
    keys.map((key) => {
      const entry = names.find((name) => name.key === key)
      if (!entry) throw new Error(`${file}: the built-in model knows no ${key}`)
      return entry.text
    })
  for (const name of ['combined', 'alone', 'listed']) {
    if (!config[name]?.group)
      throw new Error(`${file}: it has no rule "${name}", or none for groups`)
  }
  const { classes, groups, model, calibration, combined, alone, listed } = config
  const { logit_most: most } = calibration
  return {
    sizes: { ...model, classes: classes.length },
    contextSteps: config.context_steps,
    classes: {
      names: textsOf(classes),
      calibration: { scales: calibration.scales, offsets: calibration.offsets, most },
      rules: rulesOf(config.rules),
      combined: combinedOf(combined),
      alone,
      listed,
      relatives: config.relatives,
    },
    groups: {
      names: textsOf(Object.keys(groups)),
      members: Object.values(groups),
      calibration: { scales: calibration.group_scales, offsets: calibration.group_offsets, most },
      rules: rulesOf(config.group_rules),
      combined: combinedOf(combined.group),
      alone: alone.group,
      listed: listed.group,
    },
  }
}

function rulesOf({
  goes_on: goesOn,
  gap_steps: gapSteps,
  ...rules
}: Record<string, number>): TaggerRules {
  return { ...rules, goesOn, gapSteps } as unknown as TaggerRules
}

const combinedOf = ({ match_sharpness: matchSharpness, ...rule }: Record<string, number>) =>
  ({ ...rule, matchSharpness }) as unknown as CombinedRule
