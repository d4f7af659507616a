/** The broker as the gateway and engines see it. */

import type { JobQueue } from './streams.ts'
import type { DeadLetter } from './dead-letters.ts'
import type { EngineAnnouncement, Event, Job, Progress } from '../messages.ts'

export type { DeadLetter, JobQueue }
export type Stop = () => Promise<void>

/** An engine's right to a job. */
export interface Lease {
  readonly job: Job
  /** Names this attempt: each of its events carries the name. */
  readonly attemptId: string
  /** The trace that the job belongs to. */
  readonly traceParent?: string | null
  /** Times that the job has been delivered, this one included. */
  readonly deliveries: number
  /** Says that the job is in progress. Repeat it before the lease's seconds are over. */
  heartbeat(): void
  /** Acknowledges the job; resolves once the server has confirmed it. */
  ack(): Promise<void>
  /** Releases the job; it is redelivered, here or elsewhere, after `delayMs`. */
  nak(delayMs: number): void
}

export interface Broker {
  /**
   * Stores a job, where it names a model in the queue of that; resolves with its stream sequence. A
   * repeated `messageId` stores nothing new.
   */
  publishJob(job: Job, messageId: string, queue?: JobQueue): Promise<number>
  /** Removes the queued job of a request; false when it is no longer there. */
  removeJob(requestId: string, sequence: number): Promise<boolean>
  /** Returns whether the job of a request is there: after a loss, others have its sequence. */
  hasJob(requestId: string, sequence: number): Promise<boolean>
  /**
   * The next job of a queue, or null when none came within `waitMs` (at least 1000). With `model`
   * one of those that name it: null at once, where no such job is waiting or leased.
   */
  leaseJob(waitMs: number, queue?: JobQueue, model?: string): Promise<Lease | null>
  /** Resolves once the event is durable. Repeating an event of an attempt stores nothing new. */
  publishEvent(event: Event): Promise<void>
  /**
   * Hands over events in order; one is acknowledged when `handle` resolves. If not, it comes again
   * after a rest, behind others; delivered too often, or not valid, it is a dead letter.
   */
  followEvents(handle: (event: Event) => Promise<void>): Promise<Stop>
  /** Jobs and events that could not be handled; none of them is in its stream any more. */
  followDeadLetters(handle: (letter: DeadLetter) => Promise<void>): Promise<Stop>
  publishProgress(progress: Progress): void
  followProgress(handle: (progress: Progress) => void): Stop
  /** Announces to the other gateways that the row of a request has changed. */
  publishChange(requestId: string): void
  /** Follows changes that others publish, not this connection's. */
  followChanges(handle: (requestId: string) => void): Stop
  announceEngine(announcement: EngineAnnouncement): void
  followAnnouncements(handle: (announcement: EngineAnnouncement) => void): Stop
  /**
   * Calls `handle` whenever the streams are not those of before: all that they stored is lost. For
   * a loss from before this call, at once.
   */
  followLosses(handle: () => void): void
  isConnected(): boolean
  /** Why nothing can be handed to it now, in a sentence; null: nothing is known to hinder it. */
  problem(): string | null
  /** Resolves when it will never be connected again: with the reason, unless `close` was called. */
  closed(): Promise<Error | void>
  /** Sends what is buffered, then disconnects. */
  close(): Promise<void>
}
