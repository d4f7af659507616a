/** Lanes of a batch that share graphs. */

/**
 * Lanes that share a graph on a GPU. Of more numbers there would be more graphs than are held
 * (`graph-hits.test.ts`), and lanes that share one take their memory at once.
 */
export const LANES_ALIKE = 4

interface Alike {
  /** The same of lanes that are alike; null: this one is like no other. */
  readonly likeness: string | null
}

/** Groups of `count` lanes that are alike; the others are groups of one. */
export function groupsAlike<L extends Alike>(lanes: readonly L[], count: number): L[][] {
  const alone: L[] = []
  const byLikeness = new Map<string, L[]>()
  for (const lane of lanes) {
    const { likeness } = lane
    if (likeness === null) alone.push(lane)
    else byLikeness.set(likeness, [...(byLikeness.get(likeness) ?? []), lane])
  }
  const groups: L[][] = []
  for (const alike of byLikeness.values()) {
    const grouped = alike.length - (alike.length % count)
    for (let i = 0; i < grouped; i += count) groups.push(alike.slice(i, i + count))
    alone.push(...alike.slice(grouped))
  }
  return [...groups, ...alone.map((lane) => [lane])]
}
