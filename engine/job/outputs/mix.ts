/** Makes targets from separated sounds, block by block. */

import type { TargetRecipe } from './competing-frame.ts'
import type { MixPlan } from './mix-plan.ts'
import { residualOf } from './residual.ts'
import { TargetMixer, type MixedTargets } from './target-mixer.ts'

/** Planar samples `[channels][samples]` of the same length, of a mixture and its sounds. */
export interface SeparatedSounds {
  mixture: Float32Array[]
  sounds: Float32Array[][]
  /** The same in every call. */
  plan: MixPlan
}

export class Mix {
  #mixer: TargetMixer | null = null

  /** Takes the next samples and their memory; returns those that are final, perhaps none. */
  add({ mixture, sounds, plan: { recipes, mayOverlap } }: SeparatedSounds): MixedTargets {
    if (!mayOverlap) return { mixture, targets: recipes.map((r) => targetOf(r, mixture, sounds)) }
    this.#mixer ??= new TargetMixer(recipes, sounds.length, mixture.length)
    return this.#mixer.add(mixture, sounds)
  }

  /** Returns the remaining samples. */
  finish(): MixedTargets | null {
    return this.#mixer?.finish() ?? null
  }
}

/**
 * The target of a recipe that needs no mixer: a sound, the mixture, or the mixture without one
 * sound.
 */
function targetOf(
  { wanted, unwanted }: TargetRecipe,
  mixture: readonly Float32Array[],
  sounds: readonly Float32Array[][],
): Float32Array[] {
  if (wanted) return sounds[wanted[0]!]!
  return residualOf(
    mixture.map((wave) => wave.slice()),
    unwanted.map((i) => sounds[i]!),
  )
}
