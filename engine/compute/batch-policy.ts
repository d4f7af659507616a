/** Decides which lanes step next, as a pure function of the open lanes and the limits. */

import { DEVICE_SHARES, type Priority } from '../../shared/priority.ts'
import { groupBy } from '../../models/group-by.ts'

/** What the policy needs to know of an open lane. */
export interface WaitingLane {
  id: number
  accountId: string
  requestId: string
  /** Default: interactive. */
  priority?: Priority | undefined
  /** Name of its model; all lanes of a batch have the same model. */
  model: string
  /** How many rows of a batch it takes. */
  rows: number
  /** In each row. */
  frames: number
}

export interface BatchLimits {
  /**
   * Budget of a batch: its number of rows times the frames of its longest row. A lane that exceeds
   * this runs alone.
   */
  framesMax: number
  /** How long the device takes for one frame, as measured. */
  secondsPerFrame: number
}

/**
 * How many seconds of the device each account and each request have had; the least served goes
 * first.
 */
export interface DeviceSeconds {
  /** Those of each class, divided by its share of the device; absent: none. */
  priorities?: ReadonlyMap<Priority, number>
  accounts: ReadonlyMap<string, number>
  requests: ReadonlyMap<string, number>
}

/** At least this share of a batch must be lanes; the rest may be padding. */
const FILL_MIN = 0.8

/**
 * Returns the next batch in order of priority; empty if no lane waits. First comes the class that
 * was served least for its share, in it the account that was served least, then the request, and
 * then the lane that was opened first. So a short request overtakes a long one, and an account with
 * many requests gets no more than its share (start-time fair queueing, Goyal, Vin and Cheng 1997,
 * measured in device seconds). All lanes of the batch have the model of the first one, and each
 * takes one step. A lane waits for the next batch if its length would fill this one with padding,
 * and so do the last lanes if they would prevent a bucket size.
 */
export function nextBatch(
  waiting: readonly WaitingLane[],
  served: DeviceSeconds,
  limitsOf: (model: string) => BatchLimits,
): WaitingLane[] {
  const model = classesOf(waiting, served)
    .at(-1)
    ?.accounts.at(-1)
    ?.requests.at(-1)
    ?.lanes.at(-1)?.model
  if (model === undefined) return []
  const { framesMax, secondsPerFrame } = limitsOf(model)
  const classes = classesOf(
    waiting.filter((lane) => lane.model === model),
    served,
  )
  const batch: WaitingLane[] = []
  let size: BatchSize = { rows: 0, longest: 0, filled: 0 }
  for (let turn = classes.pop(); turn; turn = classes.pop()) {
    const account = turn.accounts.pop()!
    const request = account.requests.pop()!
    const lane = request.lanes.pop()!
    const grown = grow(size, lane)
    if (batch.length === 0 || fits(grown, framesMax)) {
      batch.push(lane)
      size = grown
      turn.served += (secondsPerFrame * framesOf(lane)) / DEVICE_SHARES[turn.priority]
      account.served += secondsPerFrame * framesOf(lane)
      request.served += secondsPerFrame * framesOf(lane)
    }
    if (request.lanes.length > 0) insert(account.requests, request, compareRequests)
    if (account.requests.length > 0) insert(turn.accounts, account, compareAccounts)
    if (turn.accounts.length > 0) insert(classes, turn, compareClasses)
  }
  return trimToBucket(batch)
}

/**
 * Keeps as many lanes as possible from the start whose rows add up to a bucket size; all of them if
 * no number does.
 */
function trimToBucket(batch: WaitingLane[]): WaitingLane[] {
  let rows = 0
  const areBuckets = batch.map((lane) => isBucketSize((rows += lane.rows)))
  return batch.slice(0, areBuckets.lastIndexOf(true) + 1 || batch.length)
}

/**
 * Whether a batch may have this many rows. Each number of rows needs its own graphs, so only powers
 * of two and the triples of small ones are used. At most a third of a small batch waits for the
 * next, or half of a large one.
 */
const isBucketSize = (rows: number): boolean => {
  const times = rows / (rows & -rows)
  return times === 1 || (times === 3 && rows <= 12)
}

/** Frames in all rows of a lane. */
export const framesOf = ({ rows, frames }: Pick<WaitingLane, 'rows' | 'frames'>): number =>
  rows * frames

/** The cost of a batch: its number of rows times the frames of its longest row. */
export function paddedFrames(batch: readonly WaitingLane[]): number {
  const { rows, longest } = batch.reduce(grow, { rows: 0, longest: 0, filled: 0 })
  return rows * longest
}

interface BatchSize {
  rows: number
  /** Frames of the longest row. */
  longest: number
  /** Frames in all rows, without padding. */
  filled: number
}

const grow = ({ rows, longest, filled }: BatchSize, lane: WaitingLane): BatchSize => ({
  rows: rows + lane.rows,
  longest: Math.max(longest, lane.frames),
  filled: filled + framesOf(lane),
})

const fits = ({ rows, longest, filled }: BatchSize, framesMax: number): boolean =>
  rows * longest <= framesMax && filled >= FILL_MIN * rows * longest

/** The lanes of a request; the one opened first is last in the list. */
interface RequestTurn {
  served: number
  lanes: WaitingLane[]
}

/** The requests of an account; the next one to serve is last in the list. */
interface AccountTurn {
  served: number
  requests: RequestTurn[]
}

/** The accounts of a class; the next one to serve is last in the list. */
interface ClassTurn {
  priority: Priority
  served: number
  accounts: AccountTurn[]
}

/** Each class counts the seconds of its accounts by itself, so that one earns none in another. */
export const accountKeyOf = (lane: Pick<WaitingLane, 'accountId' | 'priority'>): string =>
  `${priorityOf(lane)} ${lane.accountId}`

export const priorityOf = ({ priority }: Pick<WaitingLane, 'priority'>): Priority =>
  priority ?? 'interactive'

/** Returns all classes; the next one to serve is last in the list. */
const classesOf = (waiting: readonly WaitingLane[], served: DeviceSeconds): ClassTurn[] =>
  [...groupBy(waiting, priorityOf)]
    .map(([priority, lanes]) => ({
      priority,
      served: served.priorities?.get(priority) ?? 0,
      accounts: accountsOf(lanes, served),
    }))
    .sort(compareClasses)

/** Returns all accounts; the next one to serve is last in the list. */
function accountsOf(waiting: readonly WaitingLane[], served: DeviceSeconds): AccountTurn[] {
  const lanes = [...waiting].sort((a, b) => b.id - a.id)
  return [...groupBy(lanes, ({ accountId }) => accountId)]
    .map(([, lanesOfAccount]) => ({
      served: served.accounts.get(accountKeyOf(lanesOfAccount[0]!)) ?? 0,
      requests: [...groupBy(lanesOfAccount, ({ requestId }) => requestId)]
        .map(([requestId, lanes]) => ({ served: served.requests.get(requestId) ?? 0, lanes }))
        .sort(compareRequests),
    }))
    .sort(compareAccounts)
}

/** Positive if `a` goes before `b`, because those to serve first are last in the list. */
const compareRequests = (a: RequestTurn, b: RequestTurn): number =>
  b.served - a.served || b.lanes.at(-1)!.id - a.lanes.at(-1)!.id

const compareAccounts = (a: AccountTurn, b: AccountTurn): number =>
  b.served - a.served || compareRequests(a.requests.at(-1)!, b.requests.at(-1)!)

const compareClasses = (a: ClassTurn, b: ClassTurn): number =>
  b.served - a.served || compareAccounts(a.accounts.at(-1)!, b.accounts.at(-1)!)

function insert<T>(sorted: T[], item: T, compare: (a: T, b: T) => number): void {
  let [from, to] = [0, sorted.length]
  while (from < to) {
    const middle = (from + to) >> 1
    if (compare(sorted[middle]!, item) <= 0) from = middle + 1
    else to = middle
  }
  sorted.splice(from, 0, item)
}
