/**
 * How long requests still take, from what is ahead of them and from how fast requests before them
 * were separated. Pure functions.
 */

/** A request that is not finished. */
export interface OpenWork {
  requestId: string
  /** Seconds of media; null: not known yet. */
  mediaSeconds: number | null
  /** The work of a second of it. */
  weight: number
  /** The part that is done, from 0 to 1. */
  done: number
}

/** A completed request; times are epoch milliseconds. */
export interface DoneWork {
  mediaSeconds: number
  weight: number
  startedAt: number
  finishedAt: number
}

/** How fast all engines together separated the last requests. */
export interface Speed {
  /** Work in a second, while there was work. */
  perSecond: number
  /** The mean length of their media: taken for one that is not known yet. */
  meanSeconds: number
}

/**
 * The speed over the requests that ended after the first of `finished`: what that one ended with
 * was begun before, and what runs now has begun in their time. Time in which none ran does not
 * count.
 * @param finished in the order of their ends
 * @returns undefined where nothing can be said
 */
export function speedOf(finished: readonly DoneWork[]): Speed | undefined {
  const [first, ...later] = finished
  if (!first) return undefined
  const counted = later.length > 0 ? later : [first]
  const from = later.length > 0 ? first.finishedAt : first.startedAt
  const seconds = busyMs(counted, from) / 1_000
  const work = sum(counted.map(({ mediaSeconds, weight }) => mediaSeconds * weight))
  if (seconds <= 0 || work <= 0) return undefined
  const meanSeconds = sum(counted.map(({ mediaSeconds }) => mediaSeconds)) / counted.length
  return { perSecond: work / seconds, meanSeconds }
}

const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0)

/** The length of the union of the runs, after `from`. */
function busyMs(runs: readonly DoneWork[], from: number): number {
  let [busy, until] = [0, from]
  for (const { startedAt, finishedAt } of [...runs].sort((a, b) => a.startedAt - b.startedAt)) {
    busy += Math.max(0, finishedAt - Math.max(startedAt, until))
    until = Math.max(until, finishedAt)
  }
  return busy
}

/**
 * The seconds until each request is finished. Engines share their time between the requests that
 * they have, so all of these advance alike; where one ends, the next of the queue takes its place.
 * @param running those that engines have; while others wait, all places are taken by them
 * @param waiting the queue, in its order
 */
export function secondsLeft(
  running: readonly OpenWork[],
  waiting: readonly OpenWork[],
  { perSecond, meanSeconds }: Speed,
): Map<string, number> {
  const left = new Map<string, number>()
  /** In the order of their ends: the work that each place has done when its request ends. */
  const places: { requestId: string; end: number }[] = []
  const workOf = ({ mediaSeconds, weight, done }: OpenWork) =>
    (mediaSeconds ?? meanSeconds) * weight * (1 - done)
  let [seconds, done] = [0, 0]
  const begin = (request: OpenWork) => {
    const end = done + workOf(request)
    const at = places.findLastIndex((place) => place.end <= end) + 1
    places.splice(at, 0, { requestId: request.requestId, end })
  }
  const endNext = () => {
    const { requestId, end } = places[0]!
    seconds += ((end - done) * places.length) / perSecond
    done = end
    left.set(requestId, seconds)
    places.shift()
  }
  for (const request of running) begin(request)
  for (const request of waiting) {
    if (places.length >= Math.max(1, running.length)) endNext()
    begin(request)
  }
  while (places.length > 0) endNext()
  return left
}
