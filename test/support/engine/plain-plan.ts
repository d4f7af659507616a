import type { MixPlan } from '../../../engine/job/outputs/mix-plan.ts'

/** Every target is a sound of its own, and none takes what another has. */
export const plainPlan = (targets: number): MixPlan => ({
  recipes: Array.from({ length: targets }, (_, i) => ({ wanted: [i], unwanted: [] })),
  recipeOf: Array.from({ length: targets }, (_, i) => i),
  mayOverlap: false,
})
