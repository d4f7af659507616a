/** Decides which lanes of a batch are computed together, and where their numbers are. */
import { groupBy } from '../group-by.ts'
import { bucketOf, type Pass, type Bucket } from './lane-bucket.ts'
import type { View } from './prepare-chunk.ts'

/** What the plan needs to know of a lane. */
export interface PlannedLane {
  /** The pass of the next step. */
  readonly pass: Pass
  readonly channels: readonly Float32Array[]
  /** Null if the network reads the mean of the channels. */
  readonly views: readonly View[] | null
}

/** Lanes whose next step has the same shape except for the length, padded to the longest. */
export interface Group extends Bucket {
  channels: number
  views: readonly View[] | null
  /** How many mixtures there are; lanes that were opened together share one. */
  mixtures: number
  /** Lanes whose targets are computed in one go, as indices of their mixtures within the group. */
  parts: readonly (readonly number[])[]
}

/** Everything that the graph of a batch depends on, apart from the shapes of tensors. */
export interface BatchPlan {
  groups: readonly Group[]
  /** Tokens in the longest bucket, to which all rows of the network are padded. */
  tokens: number
}

/** The lanes of a group in order, and one lane for each mixture. */
export interface GroupLanes<L> {
  lanes: readonly L[]
  mixtures: readonly L[]
}

/**
 * Groups the lanes of a batch.
 * @param together whether all lanes of one shape form a group, which gives a GPU few and large
 *   operations. Otherwise each mixture is a group, so that what a CPU computes fits its
 *   caches
 */
export function planBatch<L extends PlannedLane>(
  batch: readonly L[],
  together: boolean,
): { plan: BatchPlan; members: GroupLanes<L>[] } {
  const kinds = [...groupBy(batch, (lane) => kindOf(lane, batch, together)).values()].map(
    (lanes) => ({ lanes, mixtures: lanes.filter((lane) => firstAlike(lane, lanes) === lane) }),
  )
  const members = kinds.length > 1 ? kinds.flatMap(inPowersOfTwo) : kinds
  const groups = members.map((group) => groupOf(group, together))
  return { plan: { groups, tokens: Math.max(...groups.map(({ tokens }) => tokens)) }, members }
}

/**
 * Splits a group into parts whose numbers of mixtures are powers of two. Mixed batches hardly ever
 * recur, but parts in a few sizes do, so they can run as graphs.
 */
function inPowersOfTwo<L extends PlannedLane>({ lanes, mixtures }: GroupLanes<L>): GroupLanes<L>[] {
  const parts: GroupLanes<L>[] = []
  for (let start = 0; start < mixtures.length;) {
    const count = 2 ** Math.floor(Math.log2(mixtures.length - start))
    const some = mixtures.slice(start, start + count)
    parts.push({
      lanes: lanes.filter((lane) => some.includes(firstAlike(lane, lanes))),
      mixtures: some,
    })
    start += count
  }
  return parts
}

function groupOf<L extends PlannedLane>(
  { lanes, mixtures }: GroupLanes<L>,
  together: boolean,
): Group {
  const [{ channels, views }] = lanes as readonly [L, ...L[]]
  const places = lanes.map((lane) => mixtures.indexOf(firstAlike(lane, lanes)))
  return {
    ...bucketOf(mixtures.map(({ pass }) => pass)),
    channels: channels.length,
    views,
    mixtures: mixtures.length,
    parts: together ? [places] : places.map((place) => [place]),
  }
}

/** How many rows of the network a mixture or a lane takes. */
export const rowsOf = ({ views }: Pick<PlannedLane, 'views'>): number => views?.length ?? 1

/** The key that the lanes of one group share. */
function kindOf<L extends PlannedLane>(lane: L, batch: readonly L[], together: boolean): string {
  const { pass, channels, views } = lane
  // The mean of more than two channels is weighted by the content of the whole tensor; see
  // `mixDown`.
  const isAlone = !together || (channels.length > 1 && !views)
  if (isAlone) return String(batch.indexOf(firstAlike(lane, batch)))
  return `${pass.hop} ${pass.shift} ${channels.length} ${views?.join()}`
}

/**
 * Returns the first lane that has the same mixture (lanes opened together share one) and framing.
 */
const firstAlike = <L extends PlannedLane>({ channels, pass }: L, lanes: readonly L[]): L =>
  lanes.find(
    (other) =>
      other.channels === channels && other.pass.hop === pass.hop && other.pass.shift === pass.shift,
  )!
