/** Derives the schedule of faults from the seed. */

import { seededRandom } from '../support/basics/random.ts'

export const KINDS = {
  'process killed': 9,
  'process restarted': 5,
  'process frozen': 8,
  'connections delayed': 8,
  'connections cut': 9,
  'connections held': 8,
  'connections half-opened': 8,
  'broker store deleted': 3,
  'disk full': 4,
  'database killed': 3,
  'clock jumps': 6,
  'receiver hangs': 3,
  'receiver answers 500': 4,
  'receiver answers 410': 3,
  'receiver is slow': 3,
  'upload broken off': 7,
  'key revoked': 5,
  'request canceled': 8,
  'credits run out': 6,
} as const

export type Kind = keyof typeof KINDS

export interface PlannedFault {
  number: number
  kind: Kind
  /** Milliseconds since the previous fault. */
  afterMs: number
  /** Duration in milliseconds, for faults that have one. */
  lastsMs: number
  /** From 0 up to 1: selects the process, connection or receiver. */
  which: number
  /** From 0 up to 1: selects the degree or the variant. */
  how: number
}

const AFTER_MS = { least: 150, most: 1_050 }
const LASTS_MS = { least: 100, most: 3_000 }

interface PlanOptions {
  seed: number
  faults: number
  /** Milliseconds between two faults; by default within `AFTER_MS`. */
  everyMs?: number | undefined
}

/** @param kinds the kinds that this machine supports */
export function planFaults(
  { seed, faults, everyMs }: PlanOptions,
  kinds: readonly Kind[],
): PlannedFault[] {
  const random = seededRandom(seed)
  const between = ({ least, most }: typeof AFTER_MS) => least + (most - least) * random()
  return Array.from({ length: faults }, (_, number) => ({
    number,
    kind: pickKind(kinds, random()),
    afterMs: Math.round(everyMs ?? between(AFTER_MS)),
    lastsMs: Math.round(between(LASTS_MS)),
    which: random(),
    how: random(),
  }))
}

function pickKind(kinds: readonly Kind[], share: number): Kind {
  let left = share * kinds.reduce((sum, kind) => sum + KINDS[kind], 0)
  return kinds.find((kind) => (left -= KINDS[kind]) < 0) ?? kinds[0]!
}
