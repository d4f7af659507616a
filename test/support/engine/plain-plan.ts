import type { MixPlan } from '../../../engine/job/outputs/mix-plan.ts'

/** A plan in which each target is a sound of its own and none overlaps another. */
export const plainPlan = (targets: number): MixPlan => ({
  recipes: Array.from({ length: targets }, (_, i) => ({ wanted: [i], unwanted: [] })),
  recipeOf: Array.from({ length: targets }, (_, i) => i),
  mayOverlap: false,
})
