/** Plans how the targets of prompts are made of the sounds that models separate. */

import type { TargetRecipe } from './competing-frame.ts'

/** Targets are made of sounds, which are numbered across all prompts in order. */
export interface MixPlan {
  /** How each distinct target is made. */
  recipes: readonly TargetRecipe[]
  /** The recipe for each prompt; prompts that mean the same share one. */
  recipeOf: readonly number[]
  /** False if targets can never take more of the mixture than there is. */
  mayOverlap: boolean
}

/** A sound that a prompt names, as a model understood it. */
export interface PlannedSound {
  prompt: string
  stems: readonly string[]
  /** Whether the prompt excludes it. */
  isUnwanted: boolean
  /** The model's name for it; null if it knows none, absent if the model has no names. */
  understoodAs?: string | null | undefined
  /** What the model returns instead if it knows no name. */
  substitute?: string | undefined
}

export interface PlannedPrompt {
  model: string
  sounds: readonly PlannedSound[]
}

export function planMix(prompts: readonly PlannedPrompt[]): MixPlan {
  const recipes: TargetRecipe[] = []
  const identities: string[] = []
  let first = 0
  const recipeOf = prompts.map((prompt) => {
    const identity = identityOf(prompt)
    const existing = identities.indexOf(identity)
    if (existing < 0) {
      identities.push(identity)
      recipes.push(recipeFor(prompt.sounds, first))
    }
    first += prompt.sounds.length
    return existing < 0 ? recipes.length - 1 : existing
  })
  return { recipes, recipeOf, mayOverlap: mayOverlap(prompts, recipes) }
}

/**
 * Returns which sounds count. A sound that the model does not know is not guessed if it would be
 * subtracted, or if others are wanted too. A sound that is named twice counts once.
 */
export function countedSounds(
  sounds: readonly Pick<PlannedSound, 'isUnwanted' | 'understoodAs'>[],
): boolean[] {
  const seen = new Set<string>()
  const counted = sounds.map(({ isUnwanted, understoodAs }) => {
    if (understoodAs === undefined) return true
    const name = `${isUnwanted}: ${understoodAs}`
    const counts = understoodAs !== null && !seen.has(name)
    seen.add(name)
    return counts
  })
  const firstWanted = sounds.findIndex(({ isUnwanted }) => !isUnwanted)
  const isAnyWanted = sounds.some(({ isUnwanted }, i) => !isUnwanted && counted[i])
  return counted.map((counts, i) => counts || (i === firstWanted && !isAnyWanted))
}

function recipeFor(sounds: readonly PlannedSound[], first: number): TargetRecipe {
  const counted = countedSounds(sounds)
  const placesOf = (isUnwanted: boolean) =>
    sounds.flatMap((sound, i) => (counted[i] && sound.isUnwanted === isUnwanted ? first + i : []))
  const isWithout = sounds.every(({ isUnwanted }) => isUnwanted)
  return { wanted: isWithout ? null : placesOf(false), unwanted: placesOf(true) }
}

/** Equal for prompts that mean the same sounds. */
function identityOf({ model, sounds }: PlannedPrompt): string {
  const names = sounds.map(({ prompt, stems, isUnwanted, understoodAs, substitute }) => {
    const asked = understoodAs ?? substitute ?? prompt.toLowerCase()
    const name = stems.length > 0 ? stems.join('+') : asked
    return `${isUnwanted ? '-' : '+'}${name}`
  })
  return JSON.stringify([model, [...new Set(names)].sort()])
}

/** Different stems of one model never contain the same part of the mixture. */
function mayOverlap(prompts: readonly PlannedPrompt[], recipes: readonly TargetRecipe[]): boolean {
  const [only] = recipes
  if (recipes.length === 1 && (only!.wanted?.length ?? 0) + only!.unwanted.length <= 1) return false
  const sounds = prompts.flatMap((prompt) => prompt.sounds)
  const stems = recipes.flatMap(({ wanted }) => wanted ?? []).flatMap((i) => sounds[i]!.stems)
  const isSum = recipes.every(({ wanted, unwanted }) => wanted && unwanted.length === 0)
  const isOfStems = sounds.every((sound) => sound.stems.length > 0)
  const isOfOneModel = prompts.every(({ model }) => model === prompts[0]!.model)
  return !(isSum && isOfStems && isOfOneModel && new Set(stems).size === stems.length)
}
