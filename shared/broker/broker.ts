/**
 * Implements the broker; only `shared/broker/` uses NATS. Jobs go through a work-queue stream with
 * leases, and events come back through a durable stream. Messages of either that are delivered too
 * often become dead letters. Progress and announcements use core NATS and may be lost.
 *
 * Heartbeats keep a lease alive, and it ends by ack, nak or expiry. JetStream has no fencing and
 * accepts a late ack from the first holder, so states and attempts are kept in the gateway's
 * database.
 */

import { randomUUID } from 'node:crypto'
import {
  JetStreamApiCodes,
  jetstream,
  type JetStreamClient,
  type JetStreamManager,
  type JsMsg,
  type StoredMsg,
} from '@nats-io/jetstream'
import { headers, type NatsConnection } from '@nats-io/transport-node'
import type { TSchema, Static } from 'typebox'
import { PendingBroker } from './pending-broker.ts'
import { connectServer, refusalOf, type ConnectOptions } from './connection.ts'
import type { Broker, DeadLetter, Lease, Stop } from './interface.ts'
import {
  DEAD_LETTERS,
  ensureJobConsumer,
  ensureStreams,
  EVENTS,
  EXHAUSTED,
  hasCode,
  hasConsumer,
  JOBS,
  jobSource,
  streamsAreMissing,
  type JobQueue,
  type Source,
  type StreamOptions,
} from './streams.ts'
import { followStream, retryDelayMs } from './follow.ts'
import { carryingTrace, traceParentOf } from './tracing.ts'
import { Losses } from './losses.ts'
import { jobConsumer, leaseActions, mayHaveJobs } from './leases.ts'
import { readLetter, SEQUENCE_HEADER, type Exhaustion } from './dead-letters.ts'
import type { Logger } from '../telemetry/log.ts'
import {
  Change,
  decodeEvent,
  decodeMessage,
  encodeMessage,
  EngineAnnouncement,
  Event,
  identify,
  Job,
  Progress,
} from '../messages.ts'
import { inTraceSpan } from '../telemetry/tracing.ts'

const PROGRESS_SUBJECT = 'progress'
const CHANGE_SUBJECT = 'requests.changed'
const ANNOUNCEMENT_SUBJECT = 'engines.hello'

/** How long to send buffered messages when closing; without a server they would never be sent. */
const CLOSE_MS_MAX = 2_000

export { JOB_QUEUE_NAMES } from './streams.ts'
export type { Broker, DeadLetter, JobQueue, Lease, Stop } from './interface.ts'

/**
 * Connects, and creates or updates the streams. Once connected, it reconnects forever.
 * @throws StartError if the broker cannot be reached or used
 */
export async function connectBroker(options: ConnectOptions): Promise<Broker> {
  const { connection, manager } = await connectServer(options)
  return new JetStreamBroker(connection, manager, options)
}

/**
 * Like `connectBroker`, but also resolves if nobody answers yet, for a process that has other work.
 * Until the broker is there, it counts as disconnected, publishing fails, and followers wait.
 * @throws StartError if waiting would not help
 */
export function openBroker(options: ConnectOptions): Promise<Broker> {
  return new Promise((resolve, reject) => {
    const leaving = new AbortController()
    const connecting = connectBroker({
      ...options,
      waitMsMax: Infinity,
      signal: leaving.signal,
      onAway: () => resolve(new PendingBroker(connecting, leaving)),
    })
    connecting.then(resolve, reject)
  })
}

class JetStreamBroker implements Broker {
  readonly #connection: NatsConnection
  readonly #manager: JetStreamManager
  readonly #client: JetStreamClient
  readonly #streams: StreamOptions
  readonly #isEngine: boolean
  readonly #log: Logger
  /** When the jobs' stream was created; another time means that it is a different stream. */
  #streamsMade: string | undefined
  readonly #losses = new Losses()
  /** Distinguishes messages that this connection publishes from those of others. */
  readonly #name = randomUUID()
  #connected = true
  /** Why the last publish was not stored; null if it was. */
  #refusal: string | null = null

  constructor(connection: NatsConnection, manager: JetStreamManager, options: ConnectOptions) {
    const { leaseSeconds, installation, isEngine = false, address } = options
    this.#connection = connection
    this.#manager = manager
    this.#client = jetstream(connection)
    this.#streams = { leaseSeconds, installation, replicas: address.replicas ?? 0 }
    this.#isEngine = isEngine
    this.#log = options.log
    void this.#watchConnection()
    void this.#watchStreams()
  }

  async publishJob(job: Job, messageId: string, queue: JobQueue = 'first'): Promise<number> {
    const { separator: model } = job.options
    const source = jobSource(queue, model)
    if (model !== undefined) await this.#restoring(() => this.#ensureNamedConsumer(source))
    return (await this.#publish(source.subject, encodeMessage(job), messageId)).seq
  }

  async removeJob(requestId: string, sequence: number): Promise<boolean> {
    if (!(await this.hasJob(requestId, sequence))) return false
    return this.#remove(JOBS.stream, sequence)
  }

  async hasJob(requestId: string, sequence: number): Promise<boolean> {
    const stored = await this.#stored(JOBS.stream, sequence)
    return stored !== null && identify(stored.data).request_id === requestId
  }

  async leaseJob(waitMs: number, queue: JobQueue = 'first', model?: string): Promise<Lease | null> {
    const asked = { queue, ...(model !== undefined && { model }) }
    const consumer = await this.#restoring(() => jobConsumer(this.#client, asked))
    if (!consumer || (model !== undefined && !(await mayHaveJobs(consumer)))) return null
    const message = await consumer.next({ expires: waitMs })
    if (!message) return null
    const job = this.#readJob(message)
    const deliveries = message.info.deliveryCount
    const named = { attemptId: randomUUID(), traceParent: traceParentOf(message) }
    return job && { job, ...named, deliveries, ...leaseActions(message) }
  }

  async publishEvent(event: Event): Promise<void> {
    const messageId = `${event.attempt_id}:${event.type}`
    await inTraceSpan(`publish ${event.type}`, { kind: 'producer' }, () =>
      this.#publish(EVENTS.subject, encodeMessage(event), messageId),
    )
  }

  followEvents(handle: (event: Event) => Promise<void>): Promise<Stop> {
    return this.#follow(EVENTS, (message) => {
      const event = this.#readEvent(message)
      if (!event) return this.#bury({ stream: EVENTS.stream, stream_seq: message.seq })
      const options = { kind: 'consumer', from: traceParentOf(message) } as const
      return inTraceSpan(`handle ${event.type}`, options, () => handle(event))
    })
  }

  async followDeadLetters(handle: (letter: DeadLetter) => Promise<void>): Promise<Stop> {
    const stops = await Promise.all([
      this.#follow(EXHAUSTED, (message) => this.#bury(message.json<Exhaustion>())),
      this.#follow(DEAD_LETTERS, (message) => handle(readLetter(message))),
    ])
    return async () => {
      await Promise.all(stops.map((stop) => stop()))
    }
  }

  publishProgress(progress: Progress): void {
    this.#connection.publish(PROGRESS_SUBJECT, encodeMessage(progress))
  }

  followProgress(handle: (progress: Progress) => void): Stop {
    return this.#subscribe(PROGRESS_SUBJECT, Progress, handle)
  }

  publishChange(requestId: string): void {
    if (!this.isConnected()) return // it would arrive too late
    const change = encodeMessage({ request_id: requestId, from: this.#name })
    this.#connection.publish(CHANGE_SUBJECT, change)
  }

  followChanges(handle: (requestId: string) => void): Stop {
    return this.#subscribe(CHANGE_SUBJECT, Change, (change) => {
      if (change.from !== this.#name) handle(change.request_id)
    })
  }

  announceEngine(announcement: EngineAnnouncement): void {
    this.#connection.publish(ANNOUNCEMENT_SUBJECT, encodeMessage(announcement))
  }

  followAnnouncements(handle: (announcement: EngineAnnouncement) => void): Stop {
    return this.#subscribe(ANNOUNCEMENT_SUBJECT, EngineAnnouncement, handle)
  }

  followLosses = (handle: () => void) => this.#losses.follow(handle)

  isConnected(): boolean {
    return this.#connected && !this.#connection.isClosed()
  }

  problem(): string | null {
    return this.isConnected() ? this.#refusal : 'The broker does not answer.'
  }

  closed = () => this.#connection.closed()

  async close(): Promise<void> {
    if (this.#connection.isClosed()) return
    const cut = setTimeout(() => void this.#connection.close(), CLOSE_MS_MAX)
    try {
      await Promise.race([this.#connection.drain(), this.#connection.closed()])
    } catch (error) {
      this.#log.warn({ err: error }, 'messages not yet sent did not reach the broker')
      await this.#connection.close()
    } finally {
      clearTimeout(cut)
    }
  }

  async #watchConnection(): Promise<void> {
    for await (const { type } of this.#connection.status()) {
      if (type !== 'disconnect' && type !== 'reconnect') continue
      this.#connected = type === 'reconnect'
      this.#refusal = null
      this.#log.warn(this.#connected ? 'connected to the broker again' : 'lost the broker')
      if (this.#connected) void this.#watchStreams()
    }
  }

  /** Notices when this process or another has recreated the streams. */
  async #watchStreams(): Promise<void> {
    if (this.#isEngine) return
    try {
      const { created } = await this.#restoring(() => this.#manager.streams.info(JOBS.stream))
      const before = this.#streamsMade
      this.#streamsMade = created
      if (before !== undefined && before !== created) this.#losses.note()
    } catch (error) {
      this.#log.warn({ err: error }, 'the streams could not be read')
    }
  }

  async #publish(subject: string, data: Uint8Array, messageId: string) {
    const options = { msgID: messageId, ...carryingTrace() }
    try {
      const stored = await this.#restoring(() => this.#client.publish(subject, data, options))
      this.#refusal = null
      return stored
    } catch (error) {
      this.#refusal = refusalOf(error)
      throw error
    }
  }

  /**
   * Creates the consumer for jobs that name a model before the first such job, because engines
   * create none.
   */
  async #ensureNamedConsumer(source: ReturnType<typeof jobSource>): Promise<void> {
    if (await hasConsumer(this.#manager, source)) return
    await ensureJobConsumer(this.#manager, source, this.#streams.leaseSeconds)
  }

  /**
   * Runs `use`. If the server has lost its streams (for example because its disk was wiped), a
   * gateway recreates them and retries.
   */
  async #restoring<T>(use: () => Promise<T>): Promise<T> {
    try {
      return await use()
    } catch (error) {
      if (this.#isEngine || !this.isConnected() || !(await streamsAreMissing(this.#manager)))
        throw error
      this.#log.warn({ err: error }, 'the broker has lost its streams: creating them again')
      await ensureStreams(this.#manager, this.#streams)
      await this.#watchStreams()
      return use()
    }
  }

  async #stored(stream: string, sequence: number): Promise<StoredMsg | null> {
    try {
      return await this.#manager.streams.getMessage(stream, { seq: sequence })
    } catch (error) {
      const gone =
        hasCode(error, JetStreamApiCodes.NoMessageFound) ||
        hasCode(error, JetStreamApiCodes.StreamNotFound)
      if (gone) return null
      throw error
    }
  }

  async #remove(stream: string, sequence: number): Promise<boolean> {
    try {
      return await this.#manager.streams.deleteMessage(stream, sequence)
    } catch (error) {
      if (await this.#stored(stream, sequence)) throw error
      return false
    }
  }

  /**
   * Returns the validated event; null if it is invalid. It will stay invalid, because gateways are
   * upgraded first.
   */
  #readEvent({ data, seq }: JsMsg): Event | null {
    try {
      return decodeEvent(data)
    } catch (error) {
      const { request_id: requestId, attempt_id: attemptId, type } = identify(data)
      const about = { err: error, seq, requestId, attemptId, event: type }
      this.#log.error(about, 'an event is not valid: it is kept as a dead letter')
      return null
    }
  }

  /** Moves a message that is invalid or used up its deliveries to the dead letters. */
  async #bury({ stream, stream_seq: sequence }: Exhaustion): Promise<void> {
    const stored = await this.#stored(stream, sequence)
    if (!stored) return
    const letters = headers()
    letters.set(SEQUENCE_HEADER, String(sequence))
    await this.#client.publish(`${DEAD_LETTERS.subject}.${stream}`, stored.data, {
      headers: letters,
      msgID: `${stream}-${sequence}-${stored.timestamp}`,
    })
    await this.#remove(stream, sequence)
  }

  /**
   * Returns the validated job, or null if it can't be read. Such a job goes back to the queue,
   * since an engine of another version may read it.
   */
  #readJob(message: JsMsg): Job | null {
    try {
      return decodeMessage(Job, message.data)
    } catch (error) {
      this.#log.error({ err: error, seq: message.seq }, 'a job could not be read')
      message.nak(retryDelayMs(message))
      return null
    }
  }

  #follow(source: Source, handle: (message: JsMsg) => Promise<void>): Promise<Stop> {
    const { stream, consumer } = source
    return followStream({
      consumer: () => this.#restoring(() => this.#client.consumers.get(stream, consumer)),
      handle,
      onFailure: async (error) => {
        this.#log.warn({ err: error, stream }, 'following a stream failed; retrying')
        if (this.isConnected()) await this.#watchStreams()
      },
      log: this.#log,
    })
  }

  #subscribe<T extends TSchema>(
    subject: string,
    schema: T,
    handle: (message: Static<T>) => void,
  ): Stop {
    const subscription = this.#connection.subscribe(subject, {
      callback: (error, message) => {
        try {
          if (error) throw error
          handle(decodeMessage(schema, message.data))
        } catch (cause) {
          this.#log.error({ err: cause, subject }, 'a message is not valid')
        }
      },
    })
    return async () => subscription.unsubscribe()
  }
}
