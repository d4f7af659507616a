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
  /** It takes so long at least, as its engine says; 0: nothing is said. */
  secondsAtLeast: number
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
  speed: Speed,
): Map<string, number> {
  const engines = new Engines(speed)
  for (const request of running) engines.begin(request)
  for (const request of waiting) {
    while (engines.requests >= Math.max(1, running.length)) engines.endNext()
    engines.begin(request)
  }
  while (engines.requests > 0) engines.endNext()
  return engines.left
}

interface Place {
  requestId: string
  /** The work that every place has done when this request's own is. */
  end: number
  secondsAtLeast: number
}

/** Plays requests through. */
class Engines {
  readonly left = new Map<string, number>()
  readonly #speed: Speed
  /** In the order of their ends. */
  readonly #working: Place[] = []
  /** Their work is done, and yet they take longer: in the order of their ends. */
  readonly #lasting: Place[] = []
  #seconds = 0
  #done = 0

  constructor(speed: Speed) {
    this.#speed = speed
  }

  get requests(): number {
    return this.#working.length + this.#lasting.length
  }

  begin({ requestId, mediaSeconds, weight, done, secondsAtLeast }: OpenWork): void {
    const work = (mediaSeconds ?? this.#speed.meanSeconds) * weight * (1 - done)
    const place = { requestId, end: this.#done + work, secondsAtLeast }
    insert(this.#working, place, ({ end }) => end)
  }

  /** Ends the work of a request, or a request whose work has ended. */
  endNext(): void {
    const [working, lasting] = [this.#working[0], this.#lasting[0]]
    const { perSecond } = this.#speed
    const count = this.#working.length
    const workSeconds = working
      ? this.#seconds + (Math.max(0, working.end - this.#done) * count) / perSecond
      : Infinity
    if (lasting && lasting.secondsAtLeast <= workSeconds) {
      const seconds = lasting.secondsAtLeast
      if (working) this.#done += ((seconds - this.#seconds) * perSecond) / count
      this.#seconds = seconds
      this.left.set(lasting.requestId, seconds)
      this.#lasting.shift()
    } else if (working) {
      this.#seconds = workSeconds
      this.#done = working.end
      this.#working.shift()
      if (working.secondsAtLeast > workSeconds) {
        insert(this.#lasting, working, ({ secondsAtLeast }) => secondsAtLeast)
      } else this.left.set(working.requestId, workSeconds)
    }
  }
}

/** Keeps the order; one that is as far as others comes after them. */
function insert(places: Place[], place: Place, orderOf: (place: Place) => number): void {
  const at = places.findLastIndex((other) => orderOf(other) <= orderOf(place)) + 1
  places.splice(at, 0, place)
}
