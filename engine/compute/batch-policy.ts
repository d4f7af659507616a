/** Which lanes step next: a pure function of what is open and the limits. */

import { groupBy } from '../../models/group-by.ts'

/** An open lane, as the policy sees it. */
export interface WaitingLane {
  id: number
  accountId: string
  requestId: string
  /** The name of its model: a batch has lanes of one. */
  model: string
  /** Rows of a batch that it takes. */
  rows: number
  /** Per row. */
  frames: number
}

export interface BatchLimits {
  /** Budget of one batch: its rows times the frames of its longest. A wider lane runs alone. */
  framesMax: number
  /** How long the device takes for a frame, as measured. */
  secondsPerFrame: number
}

/** Seconds of the device that each account and each request had: who had least goes first. */
export interface DeviceSeconds {
  accounts: ReadonlyMap<string, number>
  requests: ReadonlyMap<string, number>
}

/** At least this share of a batch must be lanes, the rest may be padding. */
const FILL_MIN = 0.8

/**
 * The next batch, in order of priority; empty when nothing waits. The account that was served least
 * comes first, within it the request served least, then the lane opened first: so a short request
 * overtakes a long one, and an account with many requests gets no more than its share (start-time
 * fair queueing, Goyal, Vin and Cheng 1997, on seconds of the device). The batch has the first
 * lane's model. Each lane has its turn once; one whose
 * length would waste the batch on padding waits for the next, and so do the last ones
 * with which its rows would be no bucket size.
 */
export function nextBatch(
  waiting: readonly WaitingLane[],
  served: DeviceSeconds,
  limitsOf: (model: string) => BatchLimits,
): WaitingLane[] {
  const model = accountsOf(waiting, served).at(-1)?.requests.at(-1)?.lanes.at(-1)?.model
  if (model === undefined) return []
  const { framesMax, secondsPerFrame } = limitsOf(model)
  const accounts = accountsOf(
    waiting.filter((lane) => lane.model === model),
    served,
  )
  const batch: WaitingLane[] = []
  let size: BatchSize = { rows: 0, longest: 0, filled: 0 }
  for (let account = accounts.pop(); account; account = accounts.pop()) {
    const request = account.requests.pop()!
    const lane = request.lanes.pop()!
    const grown = grow(size, lane)
    if (batch.length === 0 || fits(grown, framesMax)) {
      batch.push(lane)
      size = grown
      account.served += secondsPerFrame * framesOf(lane)
      request.served += secondsPerFrame * framesOf(lane)
    }
    if (request.lanes.length > 0) insert(account.requests, request, compareRequests)
    if (account.requests.length > 0) insert(accounts, account, compareAccounts)
  }
  return trimToBucket(batch)
}

/** Keeps the most lanes from the first on whose rows are a bucket size; all, if none are. */
function trimToBucket(batch: WaitingLane[]): WaitingLane[] {
  let rows = 0
  const areBuckets = batch.map((lane) => isBucketSize((rows += lane.rows)))
  return batch.slice(0, areBuckets.lastIndexOf(true) + 1 || batch.length)
}

/**
 * A power of two, or a small one's triple: graphs are made for each number of rows, so there are
 * few. At most a third of a small batch waits for the next, and half of a large one.
 */
const isBucketSize = (rows: number): boolean => {
  const times = rows / (rows & -rows)
  return times === 1 || (times === 3 && rows <= 12)
}

/** Frames of all rows of a lane. */
export const framesOf = ({ rows, frames }: Pick<WaitingLane, 'rows' | 'frames'>): number =>
  rows * frames

/** Cost of a batch: its rows, each as long as the longest. */
export function paddedFrames(batch: readonly WaitingLane[]): number {
  const { rows, longest } = batch.reduce(grow, { rows: 0, longest: 0, filled: 0 })
  return rows * longest
}

interface BatchSize {
  rows: number
  /** Frames of its longest row. */
  longest: number
  /** Frames of all rows, without padding. */
  filled: number
}

const grow = ({ rows, longest, filled }: BatchSize, lane: WaitingLane): BatchSize => ({
  rows: rows + lane.rows,
  longest: Math.max(longest, lane.frames),
  filled: filled + framesOf(lane),
})

const fits = ({ rows, longest, filled }: BatchSize, framesMax: number): boolean =>
  rows * longest <= framesMax && filled >= FILL_MIN * rows * longest

/** The lanes of one request; the one opened first is last. */
interface RequestTurn {
  served: number
  lanes: WaitingLane[]
}

/** The requests of one account; the next one is last. */
interface AccountTurn {
  served: number
  requests: RequestTurn[]
}

/** All accounts; the next one is last. */
function accountsOf(waiting: readonly WaitingLane[], served: DeviceSeconds): AccountTurn[] {
  const lanes = [...waiting].sort((a, b) => b.id - a.id)
  return [...groupBy(lanes, ({ accountId }) => accountId)]
    .map(([accountId, lanesOfAccount]) => ({
      served: served.accounts.get(accountId) ?? 0,
      requests: [...groupBy(lanesOfAccount, ({ requestId }) => requestId)]
        .map(([requestId, lanes]) => ({ served: served.requests.get(requestId) ?? 0, lanes }))
        .sort(compareRequests),
    }))
    .sort(compareAccounts)
}

/** Positive where `a` comes before `b`: such stand later in a list. */
const compareRequests = (a: RequestTurn, b: RequestTurn): number =>
  b.served - a.served || b.lanes.at(-1)!.id - a.lanes.at(-1)!.id

const compareAccounts = (a: AccountTurn, b: AccountTurn): number =>
  b.served - a.served || compareRequests(a.requests.at(-1)!, b.requests.at(-1)!)

/** Puts an item where it belongs in a sorted list, by halves. */
function insert<T>(sorted: T[], item: T, compare: (a: T, b: T) => number): void {
  let [from, to] = [0, sorted.length]
  while (from < to) {
    const middle = (from + to) >> 1
    if (compare(sorted[middle]!, item) <= 0) from = middle + 1
    else to = middle
  }
  sorted.splice(from, 0, item)
}
