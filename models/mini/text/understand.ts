/** Finds which of the known names a prompt means, and whether any of them is near. */
import type { Meaning } from '../../model.ts'

/** Less probable names are not counted among the meanings of a prompt. */
const PROBABILITY_MIN = 0.1

/**
 * How far the logit of the nearest name must exceed the mean of all logits to count as near
 * (measured in models/training/EXPERIMENTS.md). The softmax alone cannot tell, because it
 * distributes all probability over the names, however far away they are.
 */
const NEARNESS_MIN = 14

/** Names of what voices do, as in the configuration of the network. */
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

/** A letter in a script that the text encoder was not trained to read. */
const FOREIGN = /(?!\p{Script=Latin})\p{L}/u

/** How many names are suggested for a prompt that is near none. */
const NEAREST_MAX = 3

export interface Understanding {
  /** The probable names, the most probable first. */
  meanings: readonly Meaning[]
  /** The nearest name; null if none is near. */
  understoodAs: string | null
  /** Whether the prompt may mean a voice, however unusual its wording. */
  mayBeVoice: boolean
}

/** A class or group of sounds: its name in the network's configuration, and what people call it. */
export interface Name {
  key: string
  text: string
}

/**
 * A prompt that is itself a known name is always near. A prompt in another script than the
 * encoder's never is.
 * @param logits of the softmax over `names`, for one prompt
 * @param prompt as returned by `modelPrompt`
 */
export function understand(
  names: readonly Name[],
  logits: Float32Array,
  prompt: string,
): Understanding {
  if (FOREIGN.test(prompt)) return { meanings: [], understoodAs: null, mayBeVoice: false }
  const exact = names.find(({ text }) => text === prompt)
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
      exact?.text ?? (most - mean >= NEARNESS_MIN ? names[logits.indexOf(most)]!.text : null),
    mayBeVoice: probable.some(({ key }) => VOICES.has(key)),
  }
}

/**
 * Returns the names whose texts are most similar to the prompt, the most similar first, as
 * suggestions. The network's logits cannot tell, since it learned them for prompts that it knows
 * ("elevator" gives a helicopter). `likeness` is the cosine similarity between each name and the
 * prompt.
 */
export const nearestNames = (names: readonly Name[], likeness: Float32Array): string[] =>
  names
    .map(({ text }, i) => ({ text, likeness: likeness[i]! }))
    .sort((one, other) => other.likeness - one.likeness)
    .slice(0, NEAREST_MAX)
    .map(({ text }) => text)
