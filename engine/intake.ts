/**
 * Leases jobs while there is room, keeps their leases alive, and ends each lease by its outcome.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import type { Broker, Lease } from '../shared/broker.ts'
import type { Logger } from '../shared/log.ts'
import type { Job } from '../shared/messages.ts'
import { JobStopped, type Outcome } from './separate-job.ts'

interface IntakeOptions {
  broker: Pick<Broker, 'leaseJob'>
  separate: (job: Job, attemptId: string, signal: AbortSignal) => Promise<Outcome>
  jobsMax: number
  leaseSeconds: number
  jobSecondsMax: number
  log: Logger
}

interface JobInHand {
  stop: AbortController
  ended: Promise<Outcome>
}

/** How long one pull waits for a job: also the longest that a drain waits for a pull. */
const PULL_MS = 1_000
/** Pause after the broker failed us. */
const RETRY_MS = 1_000
/** How long an interrupted job rests: 5 s, then three times as long each time (10 min over all). */
const restMs = (deliveries: number) => 5_000 * 3 ** (deliveries - 1)

export class Intake {
  readonly #options: IntakeOptions
  readonly #inHand = new Map<string, JobInHand>()
  #draining = false
  #pulling: Promise<void> | null = null
  #wake: () => void = () => undefined

  constructor(options: IntakeOptions) {
    this.#options = options
  }

  start(): void {
    this.#pulling = this.#pull()
  }

  get jobs(): number {
    return this.#inHand.size
  }

  get state(): 'READY' | 'BUSY' | 'DRAINING' {
    if (this.#draining) return 'DRAINING'
    return this.#inHand.size >= this.#options.jobsMax ? 'BUSY' : 'READY'
  }

  /** Stops a job in hand, which ends as failed with CANCELED; false when it is not in hand. */
  cancel(requestId: string): boolean {
    const job = this.#inHand.get(requestId)
    job?.stop.abort(new JobStopped('canceled'))
    return job !== undefined
  }

  /**
   * Takes no more jobs; resolves when none is in hand. Jobs that have not ended after `deadlineMs`
   * are given back to the queue.
   */
  async drain(deadlineMs: number): Promise<{ finished: number; released: number }> {
    this.#draining = true
    this.#wake()
    await this.#pulling
    const jobs = [...this.#inHand.values()]
    const release = setTimeout(() => {
      for (const { stop } of jobs) stop.abort(new JobStopped('released'))
    }, deadlineMs)
    const outcomes = await Promise.all(jobs.map(({ ended }) => ended))
    clearTimeout(release)
    const released = outcomes.filter((outcome) => outcome === 'interrupted').length
    return { finished: outcomes.length - released, released }
  }

  async #pull(): Promise<void> {
    while (!this.#draining) {
      if (this.#inHand.size >= this.#options.jobsMax) {
        await new Promise<void>((resolve) => { this.#wake = resolve })
        continue
      }
      try {
        const lease = await this.#options.broker.leaseJob(PULL_MS)
        if (lease) this.#take(lease)
      } catch (error) {
        this.#options.log.warn({ err: error }, 'the broker gave no job; trying again')
        await sleep(RETRY_MS)
      }
    }
  }

  #take(lease: Lease): void {
    const { request_id: requestId } = lease.job
    // Delivered twice to us: our own lease must have lapsed while the job was in hand. It goes on.
    if (this.#draining || this.#inHand.has(requestId)) {
      lease.nak(this.#options.leaseSeconds * 1_000)
      return
    }
    const stop = new AbortController()
    const ended = this.#serve(lease, stop).finally(() => {
      this.#inHand.delete(requestId)
      this.#wake()
    })
    this.#inHand.set(requestId, { stop, ended })
  }

  async #serve(lease: Lease, stop: AbortController): Promise<Outcome> {
    const { separate, leaseSeconds, jobSecondsMax, log } = this.#options
    const heartbeat = setInterval(() => lease.heartbeat(), (leaseSeconds * 1_000) / 3)
    // A job that hangs must not hold its lease for ever.
    const limit = setTimeout(() => stop.abort(new JobStopped('released')), jobSecondsMax * 1_000)
    try {
      const outcome = await separate(lease.job, lease.attemptId, stop.signal)
      if (outcome === 'interrupted') lease.nak(this.#draining ? 0 : restMs(lease.deliveries))
      else await lease.ack()
      return outcome
    } catch (error) {
      // The job's event is stored; a lease whose ack is lost is delivered again, and refused then.
      log.warn({ err: error, request_id: lease.job.request_id }, 'a lease could not be ended')
      return 'interrupted'
    } finally {
      clearInterval(heartbeat)
      clearTimeout(limit)
    }
  }
}
