/** Which lanes step next: a pure function of what is open and the limits. */

/** An open lane, as the policy sees it. */
export interface WaitingLane {
  id: number
  accountId: string
  requestId: string
  /** Its length in a batch. */
  frames: number
}

export interface BatchLimits {
  /** Budget of one batch: its lanes times the frames of its longest. A wider lane runs alone. */
  framesMax: number
}

/** Frames already stepped for each account and each request: who had least goes first. */
export interface Served {
  accounts: ReadonlyMap<string, number>
  requests: ReadonlyMap<string, number>
}

/** Of a batch at least this share must be lanes, the rest may be padding. */
const FILL_MIN = 0.8

/**
 * The next batch, in order of priority; empty when nothing waits. The account that was served least
 * comes first, within it the request served least, then the lane opened first: so a short request
 * overtakes a long one, and an account with many requests gets no more than its share (start-time
 * fair queueing, Goyal, Vin and Cheng 1997, on frames). Lanes whose length would waste the batch on
 * padding wait for the next.
 */
export function nextBatch(
  waiting: readonly WaitingLane[],
  served: Served,
  limits: BatchLimits,
): WaitingLane[] {
  const accounts = new Map(served.accounts)
  const requests = new Map(served.requests)
  const left = [...waiting].sort((a, b) => a.id - b.id)
  const batch: WaitingLane[] = []
  while (left.length > 0) {
    const fitting = left.filter((lane) => fits(batch, lane, limits))
    const first = fitting.reduce<WaitingLane | null>(
      (best, lane) => (best && !isServedLess(lane, best, accounts, requests) ? best : lane),
      null,
    )
    if (!first) break
    batch.push(first)
    left.splice(left.indexOf(first), 1)
    accounts.set(first.accountId, (accounts.get(first.accountId) ?? 0) + first.frames)
    requests.set(first.requestId, (requests.get(first.requestId) ?? 0) + first.frames)
  }
  return batch
}

/** What a batch costs. */
export const paddedFrames = (batch: readonly WaitingLane[]): number =>
  Math.max(...batch.map(({ frames }) => frames)) * batch.length

function fits(batch: readonly WaitingLane[], lane: WaitingLane, limits: BatchLimits): boolean {
  if (batch.length === 0) return true
  const grown = [...batch, lane]
  const padded = paddedFrames(grown)
  const filled = grown.reduce((sum, { frames }) => sum + frames, 0)
  return padded <= limits.framesMax && filled >= FILL_MIN * padded
}

function isServedLess(
  lane: WaitingLane,
  than: WaitingLane,
  accounts: ReadonlyMap<string, number>,
  requests: ReadonlyMap<string, number>,
): boolean {
  const account = (accounts.get(lane.accountId) ?? 0) - (accounts.get(than.accountId) ?? 0)
  if (account !== 0) return account < 0
  return (requests.get(lane.requestId) ?? 0) < (requests.get(than.requestId) ?? 0)
}
