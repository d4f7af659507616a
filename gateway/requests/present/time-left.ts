/** Estimates how long requests will still take, from the work before them and the recent speed. */

export interface OpenWork {
  requestId: string
  /** The length of the media in seconds; null if it is not known yet. */
  mediaSeconds: number | null
  /** The work of one second of the media. */
  weight: number
  /** The part that is done, from 0 to 1. */
  done: number
  /**
   * The least number of seconds that it will still take, as its engine reports; 0 if the engine has
   * reported nothing.
   */
  secondsAtLeast: number
}

/** A completed request; times are epoch milliseconds. */
export interface DoneWork {
  engineId: string | null
  mediaSeconds: number
  weight: number
  startedAt: number
  finishedAt: number
}

/** How fast the engines separated the last requests. */
export interface Speed {
  /** Work per second of all engines together, counting only the time in which there was work. */
  perSecond: number
  /** Work of one engine in a second, while it had work. */
  perEngineSecond: number
  /** The mean length of their media, which stands in for a length that is not known yet. */
  meanSeconds: number
}

/**
 * Measures the speed over the requests that ended after the first of `finished`. The first only
 * marks the start, because its work began earlier; if there is no other, it counts from its own
 * start. Time in which nothing ran does not count.
 * @param finished in the order of their ends
 * @returns undefined if nothing can be said
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
  const engines = [...new Set(counted.map(({ engineId }) => engineId))]
  const runsOf = (engine: string | null) => counted.filter(({ engineId }) => engineId === engine)
  const engineSeconds = sum(engines.map((engine) => busyMs(runsOf(engine), from))) / 1_000
  return { perSecond: work / seconds, perEngineSecond: work / engineSeconds, meanSeconds }
}

const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0)

/** Returns the milliseconds after `from` in which at least one run was going on. */
function busyMs(runs: readonly DoneWork[], from: number): number {
  let [busy, until] = [0, from]
  for (const { startedAt, finishedAt } of [...runs].sort((a, b) => a.startedAt - b.startedAt)) {
    busy += Math.max(0, finishedAt - Math.max(startedAt, until))
    until = Math.max(until, finishedAt)
  }
  return busy
}

/**
 * Returns the seconds until each request is finished. Engines share their time equally between the
 * requests that they hold; when one ends, the next in the queue takes its place.
 * @param running requests that engines have; if others wait, these are taken to fill all places
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
  /** The work that each place has done by the time this request is finished. */
  end: number
  secondsAtLeast: number
}

/** Simulates engines that work through the requests. */
class Engines {
  readonly left = new Map<string, number>()
  readonly #speed: Speed
  /** In the order of their ends. */
  readonly #working: Place[] = []
  /** Requests whose work is done but that still last, in the order of their ends. */
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

  /**
   * Moves on to the next end, either of a request's work or of a request that outlasted its work.
   */
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

/** Inserts a place in order, after equal ones. */
function insert(places: Place[], place: Place, orderOf: (place: Place) => number): void {
  const at = places.findLastIndex((other) => orderOf(other) <= orderOf(place)) + 1
  places.splice(at, 0, place)
}
