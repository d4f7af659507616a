/** Which lanes of a batch are computed together, and where their numbers lie. */
import { groupBy } from '../group-by.ts'
import { bucketOf, type Pass, type Bucket } from './lane-bucket.ts'
import type { View } from './prepare-chunk.ts'

/** A lane as the plan sees it. */
export interface PlannedLane {
  /** Of the coming step. */
  readonly pass: Pass
  readonly channels: readonly Float32Array[]
  /** Null: the network reads the channels' mean. */
  readonly views: readonly View[] | null
}

/** Lanes that are alike in the coming step but for their lengths, in the room of the longest. */
export interface Group extends Bucket {
  channels: number
  views: readonly View[] | null
  /** Count of mixtures: lanes that were opened together have one. */
  mixtures: number
  /** Lanes whose targets are computed at once, as the places of their mixtures in the group. */
  parts: readonly (readonly number[])[]
}

/** All that a batch's graph depends on, besides the shapes of tensors. */
export interface BatchPlan {
  groups: readonly Group[]
  /** Tokens of the longest room, which the network's rows are padded to. */
  tokens: number
}

/** The lanes of a group in their order, and one lane of each mixture. */
export interface GroupLanes<L> {
  lanes: readonly L[]
  mixtures: readonly L[]
}

/**
 * Groups the lanes of a batch.
 * @param together all lanes that are alike: so a GPU has few operations, each of them large. Else
 *   every mixture is a group, which keeps what a processor computes small enough for its caches
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
 * Parts of lanes that are alike, each of as many mixtures as a power of two. Of batches with lanes
 * of several kinds hardly one is like another: their parts are, if they come in few sizes.
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

/** The rows of the network that a mixture or a lane takes. */
export const rowsOf = ({ views }: Pick<PlannedLane, 'views'>): number => views?.length ?? 1

/** What is the same of lanes in one group. */
function kindOf<L extends PlannedLane>(lane: L, batch: readonly L[], together: boolean): string {
  const { pass, channels, views } = lane
  // The mean of more channels is weighed by what all of them hold: see `mixDown`.
  const isAlone = !together || (channels.length > 1 && !views)
  if (isAlone) return String(batch.indexOf(firstAlike(lane, batch)))
  return `${pass.hop} ${pass.shift} ${channels.length} ${views?.join()}`
}

/** The first lane that has the same mixture, being opened together, in the same frames. */
const firstAlike = <L extends PlannedLane>({ channels, pass }: L, lanes: readonly L[]): L =>
  lanes.find(
    (other) =>
      other.channels === channels && other.pass.hop === pass.hop && other.pass.shift === pass.shift,
  )!
