/**
 * The tagger's sizes, calibration and rules, from the `config.json` next to its weights; loads no
 * TensorFlow.
 */
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { readConfig } from '../mini/config.ts'
import { STEP_SECONDS, type TaggerRules } from './decisions.ts'
import { MEL_FEATURES } from './mel.ts'
import type { TaggerSizes } from './network.ts'

/** The tagger as lanes and batches know it. */
export const TAGGER = 'tagger'

/**
 * Steps of a piece in all: those at its ends are the context of the others, and answered by its
 * neighbours. So a minute and a half is one piece, and a long file is heard 1.08 times.
 */
export const PIECE_STEPS = 192

/** Scales and offsets that make logits those of probabilities. */
export interface Calibration {
  scales: readonly number[]
  offsets: readonly number[]
  /** No step is surer than this logit, either way. */
  most: number
}

/** Joins the tagger's evidence with the match of a separation into a logit of presence. */
export interface CombinedRule {
  /** Power of the odds of a chunk's match of which the mean is taken. */
  matchSharpness: number
  /** Weights of the evidence and of the match, and what is added. */
  tagger: number
  match: number
  offset: number
  /** Logit from which a sound is found, and below which it is absent. */
  found: number
  absent: number
}

/** Makes a logit of presence of the tagger's evidence alone. */
export interface AloneRule {
  tagger: number
  offset: number
}

/** What decides about classes or about groups. */
interface DecisionConfig {
  /** What people call them: the names that the built-in model knows. */
  names: readonly string[]
  calibration: Calibration
  rules: TaggerRules
  combined: CombinedRule
  /** For a sound that is asked for, and for one that nobody asked for. */
  alone: AloneRule
  listed: AloneRule
}

export interface TaggerConfig {
  sizes: TaggerSizes
  /** Steps that a step depends on, to either side. */
  contextSteps: number
  classes: DecisionConfig & {
    /** For each class, others that sound like it. */
    relatives: readonly (readonly number[])[]
  }
  groups: DecisionConfig & {
    /** The classes of each group. */
    members: readonly (readonly number[])[]
  }
}

const pathOf = (name: string) => fileURLToPath(new URL(name, import.meta.url))

/**
 * The configuration of the served weights.
 * @throws Error naming the file when it describes features, steps or sounds of another network, or
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
