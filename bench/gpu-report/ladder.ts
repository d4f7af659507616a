/** Judges the ladder: finds the first step that is wrong, or slower than the one before. */
import { groupBy } from '../../models/group-by.ts'
import type { Row } from './options.ts'

/** Each step should be as accurate as the first, and faster than the one before. */
export const LADDER_STEPS = ['plain', 'graph', 'XLA', 'XLA with command buffers'] as const

export type LadderStep = (typeof LADDER_STEPS)[number]

export interface LadderRow extends Row {
  model: string
  precision: string
  batch: number
  step: string
  ms: number
  /** Largest difference, as a share of the largest number. */
  'farthest from plain': number
}

/** Allowed differences by precision, since rounding differs with the order of summation. */
const FARTHEST_MAX: Readonly<Record<string, number>> = { float32: 1e-3, bfloat16: 5e-2 }
/** Times vary by this factor without meaning anything. */
const SLOWER_MAX = 1.05

/** Returns the largest difference as a share of the largest number; 1 if a value is not finite. */
export function farthestFrom(values: Float32Array, expected: Float32Array): number {
  let [difference, largest] = [0, Number.MIN_VALUE]
  for (const [i, value] of values.entries()) {
    if (!Number.isFinite(value)) return 1
    difference = Math.max(difference, Math.abs(value - expected[i]!))
    largest = Math.max(largest, Math.abs(expected[i]!))
  }
  return difference / largest
}

/** Returns a line for each model, precision and batch. */
export function verdicts(rows: readonly LadderRow[]): string[] {
  const cases = groupBy(
    rows,
    ({ model, precision, batch }) => `${model}, ${precision}, batch ${batch}`,
  )
  return [...cases].map(([name, rows]) => `${name}: ${verdictOn(rows)}`)
}

function verdictOn(rows: readonly LadderRow[]): string {
  let before: LadderRow | undefined
  for (const step of LADDER_STEPS) {
    const row = rows.find((candidate) => candidate.step === step)
    if (!row) return `"${step}" was not measured`
    const farthest = row['farthest from plain']
    if (farthest > FARTHEST_MAX[row.precision]!) {
      return `"${step}" is wrong, by ${farthest.toPrecision(2)} of the largest number`
    }
    if (before && row.precision === 'bfloat16' && row.ms > SLOWER_MAX * before.ms) {
      return `"${step}" takes ${row.ms.toFixed(1)} ms, "${before.step}" ${before.ms.toFixed(1)}`
    }
    before = row
  }
  return 'every step is right, and as fast as the one before'
}
