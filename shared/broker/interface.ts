/** The broker as the gateway and engines see it. */

import type { JobQueue } from './streams.ts'
import type { DeadLetter } from './dead-letters.ts'
import type { EngineAnnouncement, Event, Job, Progress } from '../messages.ts'

export type { DeadLetter, JobQueue }
export type Stop = () => Promise<void>

/** The right of an engine to work on a job. */
export interface Lease {
  readonly job: Job
  /** Id of this attempt, which each of its events carries. */
  readonly attemptId: string
  readonly traceParent?: string | null
  /** How often the job has been delivered, including this time. */
  readonly deliveries: number
  /** Reports that the job is in progress. Call it again before the lease expires. */
  heartbeat(): void
  /** Acknowledges the job; resolves once the server has confirmed it. */
  ack(): Promise<void>
  /** Releases the job; it is redelivered, here or elsewhere, after `delayMs`. */
  nak(delayMs: number): void
}

export interface Broker {
  /**
   * Stores a job, in the queue of the model if it names one; resolves with its stream sequence.
   * Repeating a `messageId` stores nothing new.
   */
  publishJob(job: Job, messageId: string, queue?: JobQueue): Promise<number>
  /** Removes the queued job of a request; returns false if it is no longer there. */
  removeJob(requestId: string, sequence: number): Promise<boolean>
  /** Whether the job of a request is there; after a loss, other jobs have its sequence. */
  hasJob(requestId: string, sequence: number): Promise<boolean>
  /**
   * Returns the next job of a queue, or null if none comes within `waitMs` (at least 1000). With
   * `model` it returns a job that names it, and null at once if no such job is waiting or leased.
   */
  leaseJob(waitMs: number, queue?: JobQueue, model?: string): Promise<Lease | null>
  /**
   * Resolves once the event is durable. Repeating an event of the same attempt stores nothing new.
   */
  publishEvent(event: Event): Promise<void>
  /**
   * Passes events to `handle` in order, and acknowledges each one when `handle` resolves. If it
   * rejects, the event is redelivered later, after others. An event that is invalid or delivered
   * too often becomes a dead letter.
   */
  followEvents(handle: (event: Event) => Promise<void>): Promise<Stop>
  /** Follows jobs and events that could not be handled; they are no longer in their streams. */
  followDeadLetters(handle: (letter: DeadLetter) => Promise<void>): Promise<Stop>
  publishProgress(progress: Progress): void
  followProgress(handle: (progress: Progress) => void): Stop
  /** Tells the other gateways that the row of a request has changed. */
  publishChange(requestId: string): void
  /** Follows changes published by others, but not by this connection. */
  followChanges(handle: (requestId: string) => void): Stop
  announceEngine(announcement: EngineAnnouncement): void
  followAnnouncements(handle: (announcement: EngineAnnouncement) => void): Stop
  /**
   * Calls `handle` whenever the streams have been recreated, which means that everything in them is
   * lost. For a loss before this call, it is called at once.
   */
  followLosses(handle: () => void): void
  isConnected(): boolean
  /** Returns a sentence on why it cannot be used now; null if no problem is known. */
  problem(): string | null
  /** Resolves once it will never be connected again, with the reason unless `close` was called. */
  closed(): Promise<Error | void>
  /** Sends what is buffered, then disconnects. */
  close(): Promise<void>
}
