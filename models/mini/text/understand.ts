/** Finds which of the network's names a prompt means, and whether any is near it. */
import type { Meaning } from '../../model.ts'

/** Names of lower probability are left out of a prompt's meanings. */
const PROBABILITY_MIN = 0.1

/**
 * How far the logit of the nearest name is above the mean of all, at the least, where a name is
 * near (measured in models/training/EXPERIMENTS.md). The softmax alone does not tell: it gives all
 * of its probability to names, however far they are.
 */
const NEARNESS_MIN = 14

/** Names of what voices do, as the network's configuration has them. */
const VOICES = new Set([
  'woman',
  'man',
  'child',
  'whisper',
  'crowd',
  'singing',
  'baby',
  'speech',
  'voice',
])

/** A letter that the text encoder has not learned to read. */
const FOREIGN = /(?!\p{Script=Latin})\p{L}/u

/** Names to try in place of a prompt that none is near. */
const NEAREST_MAX = 3

export interface Understanding {
  /** The probable names, the most probable first. */
  meanings: readonly Meaning[]
  /** The nearest name; null: none is near. */
  understoodAs: string | null
  /** True if the prompt may mean a voice, in however unusual words. */
  mayBeVoice: boolean
}

/** A class or group of sounds: what the network's configuration and what people call it. */
export interface Name {
  key: string
  text: string
}

/**
 * A name is known, however far its logit is from the others; and so is no prompt in another script
 * than the encoder's, however near it seems.
 * @param logits of the softmax over `names`, for one prompt
 * @param prompt as `modelPrompt` has it
 */
export function understand(
  names: readonly Name[],
  logits: Float32Array,
  prompt: string,
): Understanding {
  if (FOREIGN.test(prompt)) return { meanings: [], understoodAs: null, mayBeVoice: false }
  const own = names.find(({ text }) => text === prompt)
  const most = Math.max(...logits)
  const mean = logits.reduce((total, logit) => total + logit, 0) / logits.length
  const sum = logits.reduce((total, logit) => total + Math.exp(logit - most), 0)
  const probable = names
    .map((name, i) => ({ ...name, probability: Math.exp(logits[i]! - most) / sum }))
    .filter(({ probability }) => probability >= PROBABILITY_MIN)
    .sort((one, other) => other.probability - one.probability)
  return {
    meanings: probable.map(({ text, probability }) => ({ name: text, probability })),
    understoodAs:
      own?.text ?? (most - mean >= NEARNESS_MIN ? names[logits.indexOf(most)]!.text : null),
    mayBeVoice: probable.some(({ key }) => VOICES.has(key)),
  }
}

/**
 * Returns the names whose texts are most like the prompt's, the likeliest first: what people may
 * use instead. The network's logits do not tell, which it learned for prompts that it knows
 * ("elevator": a helicopter). `likeness` is the cosine between the text of each name and the
 * prompt.
 */
export const nearestNames = (names: readonly Name[], likeness: Float32Array): string[] =>
  names
    .map(({ text }, i) => ({ text, likeness: likeness[i]! }))
    .sort((one, other) => other.likeness - one.likeness)
    .slice(0, NEAREST_MAX)
    .map(({ text }) => text)
