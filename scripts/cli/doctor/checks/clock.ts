/** Compares this host's clock with another's. */

import { failure, okFinding, warning, type Finding } from '../finding.ts'

const WARNING_MS = 1_000
/** With a larger difference, presigned addresses and expiry times are wrong. */
const FAILURE_MS = 30_000

/** @param theirs the other clock's time in milliseconds, read between our two times */
export function clockFinding(
  other: string,
  theirs: number,
  [before, after]: [number, number],
): Finding {
  const offsetMs = Math.round((before + after) / 2 - theirs)
  const uncertainMs = (after - before) / 2 + 1 // clocks are read in whole milliseconds
  const isWithin = Math.abs(offsetMs) <= uncertainMs
  const direction = offsetMs > 0 ? 'ahead of' : 'behind'
  const found = isWithin
    ? `that of this host is that of the ${other}, within ${Math.ceil(uncertainMs)} ms`
    : `that of this host is ${Math.abs(offsetMs)} ms ${direction} the ${other}'s`
  const remedy = 'Synchronise both: timedatectl set-ntp true.'
  const leastMs = Math.abs(offsetMs) - uncertainMs // a slow answer says little about the clock
  if (leastMs >= FAILURE_MS) return failure('clock', found, remedy)
  return leastMs >= WARNING_MS ? warning('clock', found, remedy) : okFinding('clock', found)
}
