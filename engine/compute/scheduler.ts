/**
 * Holds the lanes of all open jobs on a compute, and gives it the next batch whenever it is free.
 */

import type { HeadResult } from '../../models/model.ts'
import { DEVICE_SHARES, type Priority } from '../../shared/priority.ts'
import type { BatchBudget } from './batch-budget.ts'
import {
  accountKeyOf,
  framesOf,
  nextBatch,
  paddedFrames,
  priorityOf,
  type BatchLimits,
  type WaitingLane,
} from './batch-policy.ts'
import { ComputeLostError, DeviceMemoryError, LaneTooLargeError } from './compute-errors.ts'
import type { ChunkOrder, LaneHandle } from './compute-messages.ts'
import type { Compute as AnyCompute } from './compute.ts'
import { ServedSeconds } from './served-seconds.ts'

/** The account and the request that a lane belongs to. */
export interface LaneOwner {
  accountId: string
  requestId: string
  /** Default: interactive. */
  priority?: Priority | undefined
}

export interface LaneOptions {
  signal: AbortSignal
  onStep: (share: number) => void
  /** Called when a batch with the first lane begins, and again if that step has to be retried. */
  onBegin?: (() => void) | undefined
  /** Called after each batch with its share of the batch's seconds, by frames. */
  onServed?: ((seconds: number) => void) | undefined
}

interface OpenLane extends WaitingLane, Omit<LaneOptions, 'signal'>, Omit<LaneHandle, 'lane'> {
  /** Sample rate of its chunk in hertz. */
  sampleRate: number
  stepsLeft: number
  resolve(results: HeadResult[]): void
  reject(error: unknown): void
}

export interface SchedulerStats {
  lanes: number
  stepsTotal: number
  laneStepsTotal: number
  framesTotal: number
}

type Compute = Pick<AnyCompute, 'prepare' | 'open' | 'step' | 'close' | 'discard'>

export interface BatchStep {
  seconds: number
  lanes: number
  /** Frames of its lanes, without padding. */
  frames: number
  /** How many frames it could have had. */
  framesMax: number
}

export interface SchedulerObserver {
  stepped?(batch: BatchStep): void
  computed?(): void
  outOfMemory?(): void
}

/** For how many ended requests the served seconds are kept. */
const REQUESTS_REMEMBERED_MAX = 1_000

/** Used until a batch of the model has been measured; all that matters is that it is not 0. */
const SECONDS_PER_FRAME_UNKNOWN = 0.001

export class Scheduler {
  readonly #compute: Compute
  readonly #budgets: ReadonlyMap<string, BatchBudget>
  /** By model, from its latest batch. */
  readonly #secondsPerFrame = new Map<string, number>()
  readonly #observer: SchedulerObserver
  readonly #lanes = new Map<number, OpenLane>()
  /** Divided by each class's share of the device. */
  readonly #secondsByPriority = new ServedSeconds<Priority>()
  readonly #secondsByAccount = new ServedSeconds()
  readonly #secondsByRequest = new ServedSeconds()
  /** Lanes that the compute has been asked to open. */
  readonly #opening = new Set<Promise<unknown>>()
  readonly #totals = { stepsTotal: 0, laneStepsTotal: 0, framesTotal: 0 }
  #stepping = false
  /** By model, the `samplesOf` its largest computed batch. */
  readonly #samplesComputedMax = new Map<string, number>()

  /** @param budgets by name of the model */
  constructor(
    compute: Compute,
    budgets: ReadonlyMap<string, BatchBudget>,
    observer: SchedulerObserver = {},
  ) {
    this.#compute = compute
    this.#budgets = budgets
    this.#observer = observer
  }

  /**
   * Runs a chunk through its model. After each step of a lane, `onStep` gets the share of the
   * lane's steps that it was, times the number of its heads.
   * @returns the result of each head
   * @throws the signal's reason once aborted, at once, even while a call hangs; the errors of
   *   compute-errors.ts
   */
  separate(order: ChunkOrder, owner: LaneOwner, options: LaneOptions): Promise<HeadResult[]> {
    return untilAborted(options.signal, () => this.#separate(order, owner, options))
  }

  async #separate(
    order: ChunkOrder,
    owner: LaneOwner,
    options: LaneOptions,
  ): Promise<HeadResult[]> {
    const { signal } = options
    const prepared = await this.#compute.prepare(order) // other lanes are stepped meanwhile
    signal.throwIfAborted()
    const opening = this.#open(prepared, owner, options)
    this.#opening.add(opening)
    const lanes = await opening.finally(() => this.#opening.delete(opening))
    const ids = lanes.map(({ id }) => id)
    const abandon = () => this.#abandonAll(ids, signal.reason)
    signal.addEventListener('abort', abandon, { once: true })
    if (signal.aborted) abandon()
    void this.#run()
    try {
      const results = await Promise.all(lanes.map(({ promise }) => promise))
      const byHead = lanes.flatMap(({ heads }, i) =>
        heads.map((head, k): [number, HeadResult] => [head, results[i]![k]!]),
      )
      return byHead.sort(([one], [other]) => one - other).map(([, result]) => result)
    } catch (error) {
      this.#abandonAll(ids, error) // the other lanes of the chunk are no longer needed
      throw error
    } finally {
      signal.removeEventListener('abort', abandon)
    }
  }

  /** Opens lanes, which wait for their first step, and returns promises of their results. */
  async #open(order: ChunkOrder, owner: LaneOwner, options: LaneOptions) {
    const { model } = order
    const opened = await this.#watchMemory(model, this.#compute.open(order))
    this.#join(owner)
    return opened.map((lane, i) =>
      this.#take(lane, order, owner, i === 0 ? options : { ...options, onBegin: undefined }),
    )
  }

  #take(
    { lane: id, heads, rows, frames, steps }: LaneHandle,
    { model, request: { chunk } }: ChunkOrder,
    owner: LaneOwner,
    { onStep, onBegin, onServed }: LaneOptions,
  ) {
    const { promise, resolve, reject } = promiseWithResolvers<HeadResult[]>()
    promise.catch(() => undefined) // the caller awaits it later
    const { sampleRate } = chunk
    const size = { heads, rows, frames, sampleRate, steps, stepsLeft: steps }
    const calls = { onStep, onBegin, onServed, resolve, reject }
    this.#lanes.set(id, { id, model, ...owner, ...size, ...calls })
    return { id, heads, promise }
  }

  stats(): SchedulerStats {
    return { lanes: this.#lanes.size, ...this.#totals }
  }

  async #run(): Promise<void> {
    if (this.#stepping) return
    this.#stepping = true
    try {
      for (;;) {
        // The compute takes its calls in order: a batch without the lanes that it is opening would
        // begin no sooner, and the lanes of a chunk would not share their encoding.
        await Promise.allSettled(this.#opening)
        const served = {
          priorities: this.#secondsByPriority.seconds,
          accounts: this.#secondsByAccount.seconds,
          requests: this.#secondsByRequest.seconds,
        }
        const lanes = [...this.#lanes.values()]
        const requests = new Set(lanes.map(({ requestId }) => requestId)).size
        const limitsOf = (model: string) => this.#limitsOf(model, requests)
        const batch = nextBatch(lanes, served, limitsOf) as OpenLane[]
        if (batch.length === 0) return
        await this.#step(batch)
      }
    } finally {
      this.#stepping = false
    }
  }

  #limitsOf(model: string, requests: number): BatchLimits {
    const secondsPerFrame = this.#secondsPerFrame.get(model) ?? SECONDS_PER_FRAME_UNKNOWN
    return { framesMax: this.#budgets.get(model)!.framesFor(requests), secondsPerFrame }
  }

  /**
   * Steps a batch. If memory runs out, steps its halves; after any other failure, steps each lane
   * alone, so that only the faulty one fails.
   * @param isPart whether this is part of a failed batch, after which later batches get no smaller
   */
  async #step(batch: readonly OpenLane[], isPart = false): Promise<void> {
    const { model } = batch[0]!
    const budget = this.#budgets.get(model)!
    try {
      const framesMax = Math.max(budget.framesMax, paddedFrames(batch))
      for (const lane of batch) if (lane.stepsLeft === lane.steps) lane.onBegin?.()
      const startedAt = performance.now()
      const stepped = this.#compute.step(batch.map((lane) => lane.id))
      await this.#watchMemory(model, stepped, isPart)
      const seconds = (performance.now() - startedAt) / 1_000
      const frames = this.#count(batch, seconds)
      this.#secondsPerFrame.set(model, seconds / frames)
      const computedMax = this.#samplesComputedMax.get(model) ?? 0
      this.#samplesComputedMax.set(model, Math.max(computedMax, samplesOf(batch)))
      budget.stepped()
      this.#observer.stepped?.({ seconds, lanes: batch.length, frames, framesMax })
      for (const lane of batch) this.#advance(lane)
    } catch (error) {
      // The end of a compute loses every lane, not only those of the batch.
      if (error instanceof ComputeLostError) this.#abandonAll([...this.#lanes.keys()], error)
      else if (batch.length === 1) this.#abandon(batch[0]!.id, this.#faultOf(batch[0]!, error))
      else {
        const size = error instanceof DeviceMemoryError ? Math.ceil(batch.length / 2) : 1
        for (let i = 0; i < batch.length; i += size) {
          const part = batch.slice(i, i + size).filter(({ id }) => this.#lanes.has(id))
          if (part.length > 0) await this.#step(part, true)
        }
      }
    }
  }

  /** Why a lane fails that could not be stepped alone. */
  #faultOf(lane: OpenLane, error: unknown): unknown {
    const isTooLarge =
      error instanceof DeviceMemoryError &&
      samplesOf([lane]) > (this.#samplesComputedMax.get(lane.model) ?? 0)
    return isTooLarge ? new LaneTooLargeError(error.message, { cause: error }) : error
  }

  #advance(lane: OpenLane): void {
    if (!this.#lanes.has(lane.id)) return // abandoned meanwhile
    lane.stepsLeft -= 1
    lane.onStep(lane.heads.length / lane.steps)
    if (lane.stepsLeft > 0) return
    this.#leave(lane)
    this.#watchMemory(lane.model, this.#compute.close(lane.id)).then((results) => {
      this.#observer.computed?.()
      lane.resolve(results)
    }, lane.reject)
  }

  #abandonAll(ids: readonly number[], reason: unknown): void {
    for (const id of ids) this.#abandon(id, reason)
  }

  #abandon(id: number, reason: unknown): void {
    const lane = this.#lanes.get(id)
    if (!lane) return
    this.#leave(lane)
    lane.reject(reason)
    // A lane that was lost with its compute has nothing left to discard.
    this.#compute.discard(id).catch(() => undefined)
  }

  #join({ accountId, requestId, priority = 'interactive' }: LaneOwner): void {
    const open = [...this.#lanes.values()]
    this.#secondsByPriority.join(priority, open.map(priorityOf))
    const peers = open.filter((lane) => priorityOf(lane) === priority)
    this.#secondsByAccount.join(accountKeyOf({ accountId, priority }), peers.map(accountKeyOf))
    const siblings = peers.filter((lane) => lane.accountId === accountId)
    this.#secondsByRequest.join(
      requestId,
      siblings.map((lane) => lane.requestId),
    )
    const requestIds = new Set([requestId, ...open.map((lane) => lane.requestId)])
    this.#secondsByRequest.prune(requestIds, REQUESTS_REMEMBERED_MAX)
  }

  #leave(lane: OpenLane): void {
    this.#lanes.delete(lane.id)
    if (this.#lanes.size > 0) return
    this.#secondsByPriority.clear()
    this.#secondsByAccount.clear()
    this.#secondsByRequest.clear()
  }

  /** Passes on the result of a device call; if memory ran out, batches become smaller. */
  async #watchMemory<T>(model: string, call: Promise<T>, isPart = false): Promise<T> {
    try {
      return await call
    } catch (error) {
      if (error instanceof DeviceMemoryError) {
        if (!isPart) this.#budgets.get(model)!.shrink()
        this.#observer.outOfMemory?.()
      }
      throw error
    }
  }

  /**
   * Counts a batch, and charges each lane's owner its share of the seconds, by frames.
   * @returns the frames of the batch
   */
  #count(batch: readonly OpenLane[], seconds: number): number {
    this.#totals.stepsTotal += 1
    this.#totals.laneStepsTotal += batch.length
    const total = batch.reduce((sum, lane) => sum + framesOf(lane), 0)
    for (const lane of batch) {
      const { requestId, onServed } = lane
      const share = (seconds * framesOf(lane)) / total
      const priority = priorityOf(lane)
      this.#secondsByPriority.add(priority, share / DEVICE_SHARES[priority])
      this.#secondsByAccount.add(accountKeyOf(lane), share)
      this.#secondsByRequest.add(requestId, share)
      onServed?.(share)
    }
    this.#totals.framesTotal += total
    return total
  }
}

/**
 * Returns a number in proportion to the samples that a batch has at least. Frames alone do not tell
 * its memory, because with a model that takes any rate, a frame of a higher one has more samples.
 */
const samplesOf = (batch: readonly OpenLane[]): number =>
  Math.max(
    paddedFrames(batch) * Math.min(...batch.map(({ sampleRate }) => sampleRate)),
    ...batch.map((lane) => framesOf(lane) * lane.sampleRate),
  )

/**
 * Returns the value of `work`, but rejects as soon as the signal fires; `work` then continues
 * unobserved.
 */
export async function untilAborted<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  signal.throwIfAborted()
  const { promise, resolve, reject } = promiseWithResolvers<T>()
  const abort = () => reject(signal.reason)
  signal.addEventListener('abort', abort, { once: true })
  work().then(resolve, reject)
  try {
    return await promise
  } finally {
    signal.removeEventListener('abort', abort)
  }
}

/** Promise.withResolvers, which Node 20 lacks. */
function promiseWithResolvers<T>() {
  let resolve!: (value: T) => void
  let reject!: (error: unknown) => void
  const promise = new Promise<T>((onValue, onError) => {
    resolve = onValue
    reject = onError
  })
  return { promise, resolve, reject }
}
