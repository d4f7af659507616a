/**
 * Estimates the places of requests in the queue, and how long they will still take. A few queries
 * serve all callers, and fewer are made while nothing changes.
 */

import type { Clock } from '../../../shared/clock.ts'
import { AUTO } from '../../../shared/prompts/route-prompt.ts'
import { PRIORITIES } from '../../../shared/priority.ts'
import { kindOf } from '../../../shared/request-kind.ts'
import type { SeparationOptions } from '../../../shared/separation-options.ts'
import type { RequestFeed } from '../follow/request-feed.ts'
import type { Store } from '../../store/database.ts'
import { lastCompleted, openRequests, type OpenRequest } from '../../store/requests.ts'
import type { RequestRow } from '../../store/schema/tables.ts'
import { engineSeconds, type EngineSeconds } from './engine-seconds.ts'
import { secondsLeft, speedOf, type DoneWork, type OpenWork, type Speed } from './time-left.ts'

interface EstimateDeps {
  store: Store
  feed: RequestFeed
  clock: Clock
  engineRegistry: { readonly engines: number }
}

/** Estimates for a request; a field is absent if it is unknown or does not apply. */
export interface QueueEstimate {
  /** 1 means next. */
  queuePosition?: number
  secondsLeft?: number
}

/** Rows are reused for a second, and for longer while none changes. */
const AGE_MS_MAX = 1_000
/**
 * The longest time that rows are reused. Gateways and engines announce changes, but a message may
 * be lost.
 */
const UNCHANGED_MS_MAX = 5_000
/**
 * How many completed requests the speed is measured by: enough to average out, and few enough to be
 * recent. The first only marks the start.
 */
const COMPLETED_MAX = 17
/** The same for the speeds by model: enough to include the models that are seldom asked for. */
const COMPLETED_OF_MODELS_MAX = 200
/** From this progress on, a request's own pace tells how long it will still take. */
const PART_MIN = 0.1
/**
 * The work per second of media, relative to `balanced`. The models differ; these values lie between
 * theirs.
 */
const WORK_OF = { fast: 0.8, balanced: 1, quality: 2.3 } as const
/** The work of a list of sounds: little more than reading the media. */
const WORK_OF_SOUNDS = 0.1
/**
 * The work of each prompt after the first, because a model may share a part of the work between
 * prompts.
 */
const FURTHER_PROMPT = 0.75

interface Rows {
  changes: number
  readAt: number
  open: readonly OpenRequest[]
  positions: ReadonlyMap<string, number>
  speed: Speed | undefined
}

export class QueueEstimates {
  readonly #deps: EstimateDeps
  #rows: Rows | undefined
  #reading: Promise<Rows> | undefined
  #left: { at: number; rows: Rows; seconds: ReadonlyMap<string, number> } | undefined

  constructor(deps: EstimateDeps) {
    this.#deps = deps
  }

  /**
   * Returns estimates for an unfinished request. They are at most a second old, or a little older
   * if nothing has changed.
   */
  async of(row: RequestRow): Promise<QueueEstimate> {
    const { request_id: requestId, status } = row
    const rows = await this.#current()
    const place = rows.positions.get(requestId) ?? rows.positions.size + 1 // newer than the rows
    const seconds = this.#secondsLeft(rows, row)
    return {
      ...(status === 'IN_QUEUE' && { queuePosition: place }),
      ...(seconds !== undefined && { secondsLeft: Math.max(1, Math.ceil(seconds)) }),
    }
  }

  #secondsLeft(rows: Rows, row: RequestRow): number | undefined {
    if (rows.speed === undefined) return this.#byOwnPace(row)
    if (this.#deps.engineRegistry.engines === 0) return undefined
    const now = this.#deps.clock.elapsed()
    if (this.#left?.rows !== rows || now - this.#left.at >= AGE_MS_MAX) {
      this.#left = { at: now, rows, seconds: this.#allSecondsLeft(rows, rows.speed) }
    }
    return this.#left.seconds.get(row.request_id)
  }

  #allSecondsLeft({ open }: Rows, speed: Speed): ReadonlyMap<string, number> {
    const read = createReading()
    const workOf = (request: OpenRequest): OpenWork => ({
      requestId: request.request_id,
      mediaSeconds: request.duration,
      weight: read(request.options).weight,
      done: this.#deps.feed.progressOf(request.request_id, request.attempt_id) ?? 0,
      secondsAtLeast: this.#deps.feed.secondsAtLeastOf(request.request_id, request.attempt_id),
    })
    const [running, waiting] = [
      open.filter(({ status }) => status === 'IN_PROGRESS'),
      open.filter(({ status }) => status === 'IN_QUEUE'),
    ]
    return secondsLeft(running.map(workOf), waiting.map(workOf), speed)
  }

  /** Returns the work that is left in all unfinished requests, by status and named model. */
  async engineSeconds(): Promise<EngineSeconds[]> {
    const { store, feed } = this.#deps
    const { open } = await this.#current()
    const completed = await lastCompleted(store, COMPLETED_OF_MODELS_MAX)
    const read = createReading()
    const left = open.map(({ request_id: id, attempt_id: attempt, status, duration, options }) => ({
      ...read(options),
      status,
      mediaSeconds: duration,
      // a released request begins again, and keeps the attempt of before
      done: status === 'IN_PROGRESS' ? (feed.progressOf(id, attempt) ?? 0) : 0,
    }))
    return engineSeconds(left, doneWork(completed))
  }

  /**
   * Estimates by the request's own pace, because there is no other measure before any request is
   * completed.
   */
  #byOwnPace(row: RequestRow): number | undefined {
    const { feed } = this.#deps
    const done = feed.progressOf(row.request_id, row.attempt_id) ?? 0
    if (row.status !== 'IN_PROGRESS' || row.started_at === null || done < PART_MIN) return undefined
    const elapsedMs = this.#deps.clock.now() - Date.parse(row.started_at)
    const seconds = (elapsedMs / 1_000) * ((1 - done) / done)
    return Math.max(seconds, feed.secondsAtLeastOf(row.request_id, row.attempt_id))
  }

  /** Returns the current rows. Concurrent callers share one read. */
  async #current(): Promise<Rows> {
    const rows = this.#rows
    const ageMs = rows ? this.#deps.clock.elapsed() - rows.readAt : Infinity
    const isUnchanged = rows?.changes === this.#deps.feed.changes
    if (rows && (ageMs < AGE_MS_MAX || (isUnchanged && ageMs < UNCHANGED_MS_MAX))) return rows
    this.#reading ??= this.#read().finally(() => (this.#reading = undefined))
    return this.#reading
  }

  async #read(): Promise<Rows> {
    const { store, feed, clock } = this.#deps
    const [changes, readAt] = [feed.changes, clock.elapsed()]
    const [oldest, completed] = [
      await openRequests(store),
      await lastCompleted(store, COMPLETED_MAX),
    ]
    // Batch is behind what people wait for.
    const open = PRIORITIES.flatMap((priority) => oldest.filter((row) => row.priority === priority))
    const waiting = open.filter(({ status }) => status === 'IN_QUEUE')
    const positions = new Map(waiting.map(({ request_id: id }, index) => [id, index + 1]))
    this.#rows = { changes, readAt, open, positions, speed: speedOf(doneWork(completed)) }
    return this.#rows
  }
}

/** @param completed the newest first */
function doneWork(
  completed: Awaited<ReturnType<typeof lastCompleted>>,
): (DoneWork & ReadOptions)[] {
  const read = createReading()
  return completed
    .map(({ engine_id: engineId, duration, options, started_at, finished_at }) => ({
      ...read(options),
      engineId,
      mediaSeconds: duration,
      startedAt: Date.parse(started_at),
      finishedAt: Date.parse(finished_at),
    }))
    .reverse()
}

/**
 * Returns a function that reads the options of requests. It remembers them, because most requests
 * have the same.
 */
function createReading(): (options: string) => ReadOptions {
  const cache = new Map<string, ReadOptions>()
  return (text) => {
    const read = cache.get(text) ?? readOptions(JSON.parse(text) as SeparationOptions)
    cache.set(text, read)
    return read
  }
}

interface ReadOptions {
  weight: number
  model: string
}

const readOptions = (options: SeparationOptions): ReadOptions => ({
  weight: workPerSecond(options),
  model: options.separator ?? AUTO,
})

/** Returns the work per second of media: prompts × candidates × the weight of the acceleration. */
function workPerSecond(options: SeparationOptions): number {
  if (kindOf(options) === 'sounds') return WORK_OF_SOUNDS
  const { further_prompts: further = [], reranking_candidates: candidates, acceleration } = options
  return (1 + FURTHER_PROMPT * further.length) * candidates * WORK_OF[acceleration]
}
