/** Which lanes of a batch share graphs. */
import type { MiniLane } from './mini-lane.ts'

/** Lanes that share a graph on a GPU: each needs some 60 MiB for 10 s of stereo. */
export const LANES_ALIKE_MAX = 8

/**
 * Groups of lanes that are alike, in numbers that are powers of two: so there are few graphs.
 * @param most lanes of a group
 */
export function lanesAlike(lanes: readonly MiniLane[], most: number): MiniLane[][] {
  const byLikeness = new Map<string, MiniLane[]>()
  const groups: MiniLane[][] = []
  for (const lane of lanes) {
    const { likeness } = lane
    if (likeness === null) groups.push([lane])
    else byLikeness.set(likeness, [...(byLikeness.get(likeness) ?? []), lane])
  }
  for (const alike of byLikeness.values()) {
    for (let first = 0; first < alike.length;) {
      const size = Math.min(most, 2 ** Math.floor(Math.log2(alike.length - first)))
      groups.push(alike.slice(first, first + size))
      first += size
    }
  }
  return groups
}
