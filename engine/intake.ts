/**
 * Leases jobs while there is room, keeps their leases alive, and ends each lease according to the
 * outcome of its job.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import { JOB_QUEUE_NAMES, type Broker, type JobQueue, type Lease } from '../shared/broker/broker.ts'
import type { DrainResult, EngineState } from '../shared/engine-control.ts'
import type { Logger } from '../shared/telemetry/log.ts'
import { mayBegin, mayLease, type OpenJob } from './intake-policy.ts'
import { JobStoppedError, type Outcome } from './job/outcome.ts'

interface IntakeOptions {
  broker: Pick<Broker, 'leaseJob'>
  /** Names of the loaded models; jobs that name another one are not leased. */
  modelNames: () => readonly string[]
  separate: (lease: Lease, signal: AbortSignal) => Promise<Outcome>
  jobsMax: number
  leaseSeconds: number
  jobSecondsMax: number
  /** While not null, no job is leased, because none could be served until it resolves. */
  outage: () => Promise<void> | null
  log: Logger
}

interface JobInFlight extends OpenJob {
  stop: AbortController
  /** Ends the job's wait for its turn. */
  begin(): void
  ended: Promise<Outcome>
}

/** How long one pull waits for a job, which is also how long a drain may wait for a pull. */
const PULL_MS = 1_000
/** How often the queues of jobs that name a model are polled; most of the time they are empty. */
const NAMED_EVERY_MS = 1_000
/** How long to wait after a failure of the broker. */
const RETRY_MS = 1_000
/**
 * How long a job is delayed if its events could not be stored: 5 s, then three times as long each
 * time (10 min in total).
 */
const retryDelayMs = (deliveries: number) => 5_000 * 3 ** (deliveries - 1)

export class Intake {
  readonly #options: IntakeOptions
  readonly #inFlight = new Map<string, JobInFlight>()
  /** Queues with an open pull, for each of which a slot is reserved. */
  readonly #pulls: JobQueue[] = []
  #awaitingRoom: (() => void)[] = []
  #draining = false
  #pulling: Promise<unknown> | null = null

  constructor(options: IntakeOptions) {
    this.#options = options
  }

  start(): void {
    this.#pulling = Promise.all(
      JOB_QUEUE_NAMES.flatMap((queue) => [this.#pull(queue), this.#pullNamed(queue)]),
    )
  }

  get jobs(): number {
    return this.#inFlight.size
  }

  get state(): EngineState {
    if (this.#draining) return 'DRAINING'
    const { jobsMax, outage } = this.#options
    const inFlight = [...this.#inFlight.values()]
    if (!mayLease('short', { inFlight, pulls: [], jobsMax })) return 'BUSY'
    return outage() ? 'PAUSED' : 'READY'
  }

  /** Cancels a job in flight; false if it is not in flight. */
  cancel(requestId: string): boolean {
    const job = this.#inFlight.get(requestId)
    job?.stop.abort(new JobStoppedError('canceled'))
    this.#beginEligible()
    return job !== undefined
  }

  /**
   * Leases no more jobs, and resolves when all have ended. Jobs that are still open after
   * `deadlineMs` are released to the queue.
   */
  async drain(deadlineMs: number): Promise<DrainResult> {
    this.#draining = true
    this.#wake()
    await this.#pulling
    const jobs = [...this.#inFlight.values()]
    const release = setTimeout(() => {
      for (const { stop } of jobs) stop.abort(new JobStoppedError('drained'))
      this.#beginEligible()
    }, deadlineMs)
    const outcomes = await Promise.all(jobs.map(({ ended }) => ended))
    clearTimeout(release)
    const finished = outcomes.filter((outcome) => outcome === 'completed' || outcome === 'failed')
    return { finished: finished.length, released: outcomes.length - finished.length }
  }

  async #pull(queue: JobQueue): Promise<void> {
    while (!this.#draining) {
      if (!this.#mayLease(queue)) {
        await this.#untilWoken()
        continue
      }
      const outage = this.#options.outage()
      if (outage) {
        await Promise.race([outage, this.#untilWoken()])
        continue
      }
      await this.#pullOnce(queue)
      // If two queues wait for one free slot, the one that waited longer gets it.
      await Promise.resolve()
    }
  }

  /** Pulls jobs that name a model; no slot is reserved for them while there are none. */
  async #pullNamed(queue: JobQueue): Promise<void> {
    const { modelNames, outage } = this.#options
    while (!this.#draining && modelNames().length > 0) {
      for (const model of modelNames()) {
        while (!this.#draining && !this.#mayLease(queue)) await this.#untilWoken()
        if (!this.#draining && !outage()) await this.#pullOnce(queue, model)
      }
      await sleep(NAMED_EVERY_MS)
    }
  }

  async #pullOnce(queue: JobQueue, model?: string): Promise<void> {
    this.#pulls.push(queue)
    try {
      const lease = await this.#options.broker.leaseJob(PULL_MS, queue, model)
      if (lease) this.#take(lease, queue)
    } catch (error) {
      this.#options.log.warn({ err: error }, 'the broker delivered no job; retrying')
      await sleep(RETRY_MS)
    } finally {
      this.#pulls.splice(this.#pulls.indexOf(queue), 1)
      this.#wake()
    }
  }

  #untilWoken(): Promise<void> {
    return new Promise((resolve) => this.#awaitingRoom.push(resolve))
  }

  #mayLease(queue: JobQueue): boolean {
    const inFlight = [...this.#inFlight.values()]
    return mayLease(queue, { inFlight, pulls: this.#pulls, jobsMax: this.#options.jobsMax })
  }

  /** Called when a job ends or a pull returns. */
  #wake(): void {
    this.#beginEligible()
    const waiting = this.#awaitingRoom
    this.#awaitingRoom = []
    for (const look of waiting) look()
  }

  #take(lease: Lease, queue: JobQueue): void {
    const {
      job: { request_id: requestId },
      deliveries,
    } = lease
    if (this.#inFlight.has(requestId)) {
      // The lease lapsed while the job was open. The job continues, and its heartbeats keep the
      // lease, whichever delivery they belong to. A nak would use up another delivery.
      lease.heartbeat()
      return
    }
    const stop = new AbortController()
    // A job that arrives during a drain is released by its events, because a nak would count as a
    // delivery.
    if (this.#draining) stop.abort(new JobStoppedError('drained'))
    let begin!: () => void
    const beginning = new Promise<void>((resolve) => {
      begin = resolve
    })
    const ended = this.#serve(lease, stop, beginning).finally(() => {
      this.#inFlight.delete(requestId)
      this.#wake()
    })
    this.#inFlight.set(requestId, { queue, deliveries, hasBegun: false, begin, stop, ended })
    this.#beginEligible()
  }

  /**
   * Begins the jobs whose turn has come. A job that was stopped while it waited needs no slot to
   * report its end.
   */
  #beginEligible(): void {
    const inFlight = [...this.#inFlight.values()]
    for (const job of inFlight) {
      const isStopped = job.stop.signal.aborted
      if (job.hasBegun || !(isStopped || mayBegin(job, { inFlight, pulls: this.#pulls }))) continue
      job.hasBegun = true
      job.begin()
    }
  }

  async #serve(lease: Lease, stop: AbortController, beginning: Promise<void>): Promise<Outcome> {
    const { separate, leaseSeconds, log } = this.#options
    const heartbeat = setInterval(() => lease.heartbeat(), (leaseSeconds * 1_000) / 3)
    try {
      await beginning
      const outcome = await this.#withinLimit({ stop, heartbeat }, () =>
        separate(lease, stop.signal),
      )
      if (outcome === 'interrupted') lease.nak(this.#draining ? 0 : retryDelayMs(lease.deliveries))
      else await lease.ack()
      log.info({ requestId: lease.job.request_id, outcome }, 'a job has ended')
      return outcome
    } catch (error) {
      // The job's event is stored. If the ack is lost, the job is delivered again, and its uploads
      // are refused.
      log.warn({ err: error, requestId: lease.job.request_id }, 'a job could not be acknowledged')
      return 'interrupted'
    } finally {
      clearInterval(heartbeat)
    }
  }

  /** Limits how long a job may hold its lease, even if it hangs and ignores its signal. */
  async #withinLimit<T>(
    { stop, heartbeat }: { stop: AbortController; heartbeat: NodeJS.Timeout },
    work: () => Promise<T>,
  ): Promise<T> {
    const limit = setTimeout(() => {
      clearInterval(heartbeat)
      stop.abort(new JobStoppedError('released'))
    }, this.#options.jobSecondsMax * 1_000)
    try {
      return await work()
    } finally {
      clearTimeout(limit)
    }
  }
}
