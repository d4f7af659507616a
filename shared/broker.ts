/**
 * The broker as all others see it: only `broker*.ts` know NATS. Jobs go one way through a
 * work-queue stream with leases; events come back through a durable stream; what of both is
 * delivered too often ends among the dead letters; progress and hellos travel on core NATS and
 * may be lost.
 *
 * A lease is kept by heartbeats and ends by ack, nak or silence. JetStream has no fencing: the
 * first holder's late ack is accepted, so truth and attempts live in the gateway's database.
 */

import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
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
import { connectServer, manageStreams } from './broker-connection.ts'
import {
  DEAD_LETTERS,
  ensureStreams,
  EVENTS,
  EXHAUSTED,
  isMissing,
  JOB_QUEUES,
  JOBS,
  streamsAreMissing,
  type JobQueue,
  type Source,
} from './broker-streams.ts'
import { readLetter, SEQUENCE_HEADER, type DeadLetter, type Exhaustion } from './broker-letters.ts'
import type { Logger } from './log.ts'
import {
  Change,
  decodeMessage,
  encodeMessage,
  EngineAnnouncement,
  Event,
  identify,
  Job,
  Progress,
} from './messages.ts'

const PROGRESS_SUBJECT = 'progress'
const CHANGE_SUBJECT = 'requests.changed'
const ANNOUNCEMENT_SUBJECT = 'engines.hello'

/** Messages that a follower has asked for and not yet handled. */
const IN_HAND_MAX = 64
/** Rest after a failure: of a follower, and of the first delivery of a message. */
const RETRY_MS = 1_000
const REST_MS_MAX = 60_000
/** What is buffered may take so long to leave; without a server it never would. */
const CLOSE_MS_MAX = 2_000

/** How long a message rests that could not be handled: each time twice as long. */
const restMs = ({ info: { deliveryCount } }: JsMsg): number =>
  Math.min(RETRY_MS * 2 ** (deliveryCount - 1), REST_MS_MAX)

export type { DeadLetter } from './broker-letters.ts'
export type { JobQueue } from './broker-streams.ts'
export type Stop = () => Promise<void>

/** An engine's right to a job. */
export interface Lease {
  readonly job: Job
  /** Names this try: every event of it carries the name. */
  readonly attemptId: string
  /** Times that the job has been delivered, this one included. */
  readonly deliveries: number
  /** Says that the job is in hand; to be repeated within the lease's seconds. */
  heartbeat(): void
  /** The job is done with; resolves once the server has taken note. */
  ack(): Promise<void>
  /** Gives the job back; it is delivered again, here or elsewhere, after `delayMs`. */
  nak(delayMs: number): void
}

export interface Broker {
  /** Stores a job; resolves with its stream sequence. A repeated `messageId` stores nothing new. */
  publishJob(job: Job, messageId: string, queue?: JobQueue): Promise<number>
  /** Removes the queued job of a request; false when it is no longer there. */
  removeJob(requestId: string, sequence: number): Promise<boolean>
  /** Whether the job of a request is there: after a loss, others have its sequence. */
  hasJob(requestId: string, sequence: number): Promise<boolean>
  /** The next job of a queue, or null when none came within `waitMs` (at least 1000). */
  leaseJob(waitMs: number, queue?: JobQueue): Promise<Lease | null>
  /** Resolves once the event is durable. Repeating an event of an attempt stores nothing new. */
  publishEvent(event: Event): Promise<void>
  /**
   * Hands over events in order; one is acknowledged when `handle` resolves. If not, it comes again
   * after a rest, behind others; delivered too often, it is a dead letter.
   */
  followEvents(handle: (event: Event) => Promise<void>): Promise<Stop>
  /** Jobs and events that used up their deliveries; none of them is in its stream any more. */
  followDeadLetters(handle: (letter: DeadLetter) => Promise<void>): Promise<Stop>
  publishProgress(progress: Progress): void
  followProgress(handle: (progress: Progress) => void): Stop
  /** Tells the other gateways that the row of a request has changed. */
  publishChange(requestId: string): void
  /** What others publish so; not what this connection does. */
  followChanges(handle: (requestId: string) => void): Stop
  announceEngine(announcement: EngineAnnouncement): void
  followAnnouncements(handle: (announcement: EngineAnnouncement) => void): Stop
  isConnected(): boolean
  /** Resolves when it will never be connected again: with the reason, unless `close` was called. */
  closed(): Promise<Error | void>
  /** Sends what is buffered, then disconnects. */
  close(): Promise<void>
}

export interface BrokerOptions {
  /** `nats://[user:password@ | token@]host:port`, several separated by commas. */
  url: string
  /** Shown in the server's list of connections. */
  name: string
  /** Silence after which a lease ends. */
  leaseSeconds: number
  log: Logger
}

/**
 * Connects, and creates or updates the streams. Reconnects for ever once it has been connected.
 * @throws StartError when the broker can't be reached or used
 */
export async function connectBroker(options: BrokerOptions): Promise<Broker> {
  const connection = await connectServer(options)
  const manager = await manageStreams(connection)
  await ensureStreams(manager, options.leaseSeconds)
  return new JetStreamBroker(connection, manager, options)
}

class JetStreamBroker implements Broker {
  readonly #connection: NatsConnection
  readonly #manager: JetStreamManager
  readonly #client: JetStreamClient
  readonly #leaseSeconds: number
  readonly #log: Logger
  /** Tells what this connection has published from what others have. */
  readonly #name = randomUUID()
  #connected = true

  constructor(connection: NatsConnection, manager: JetStreamManager, options: BrokerOptions) {
    this.#connection = connection
    this.#manager = manager
    this.#client = jetstream(connection)
    this.#leaseSeconds = options.leaseSeconds
    this.#log = options.log
    void this.#watchConnection()
  }

  async publishJob(job: Job, messageId: string, queue: JobQueue = 'first'): Promise<number> {
    return (await this.#publish(JOB_QUEUES[queue].subject, encodeMessage(job), messageId)).seq
  }

  async removeJob(requestId: string, sequence: number): Promise<boolean> {
    if (!(await this.hasJob(requestId, sequence))) return false
    return this.#remove(JOBS.stream, sequence)
  }

  async hasJob(requestId: string, sequence: number): Promise<boolean> {
    const stored = await this.#stored(JOBS.stream, sequence)
    return stored !== null && identify(stored.data).request_id === requestId
  }

  async leaseJob(waitMs: number, queue: JobQueue = 'first'): Promise<Lease | null> {
    const { stream, consumer: name } = JOB_QUEUES[queue]
    const consumer = await this.#restoring(() => this.#client.consumers.get(stream, name))
    const message = await consumer.next({ expires: waitMs })
    if (!message) return null
    const job = this.#readJob(message)
    const deliveries = message.info.deliveryCount
    return job && { job, attemptId: randomUUID(), deliveries, ...leaseActions(message) }
  }

  async publishEvent(event: Event): Promise<void> {
    await this.#publish(EVENTS.subject, encodeMessage(event), `${event.attempt_id}:${event.type}`)
  }

  followEvents(handle: (event: Event) => Promise<void>): Promise<Stop> {
    return this.#follow(EVENTS, (message) => handle(decodeMessage(Event, message.data)))
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
    if (!this.isConnected()) return // nobody would learn of it in time
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

  isConnected(): boolean {
    return this.#connected && !this.#connection.isClosed()
  }

  closed = () => this.#connection.closed()

  async close(): Promise<void> {
    if (this.#connection.isClosed()) return
    const cut = setTimeout(() => void this.#connection.close(), CLOSE_MS_MAX)
    try {
      await Promise.race([this.#connection.drain(), this.#connection.closed()])
    } catch (error) {
      this.#log.warn({ err: error }, 'what was still to be sent did not reach the broker')
      await this.#connection.close()
    } finally {
      clearTimeout(cut)
    }
  }

  async #watchConnection(): Promise<void> {
    for await (const { type } of this.#connection.status()) {
      if (type !== 'disconnect' && type !== 'reconnect') continue
      this.#connected = type === 'reconnect'
      this.#log.warn(this.#connected ? 'connected to the broker again' : 'lost the broker')
    }
  }

  #publish(subject: string, data: Uint8Array, messageId: string) {
    return this.#restoring(() => this.#client.publish(subject, data, { msgID: messageId }))
  }

  /**
   * Runs `use`; where the server has lost its streams (a wiped disk), makes them anew and tries
   * again.
   */
  async #restoring<T>(use: () => Promise<T>): Promise<T> {
    try {
      return await use()
    } catch (error) {
      if (!this.isConnected() || !(await streamsAreMissing(this.#manager))) throw error
      this.#log.warn({ err: error }, 'the broker has lost its streams: making them anew')
      await ensureStreams(this.#manager, this.#leaseSeconds)
      return use()
    }
  }

  async #stored(stream: string, sequence: number): Promise<StoredMsg | null> {
    try {
      return await this.#manager.streams.getMessage(stream, { seq: sequence })
    } catch (error) {
      const gone =
        isMissing(error, JetStreamApiCodes.NoMessageFound) ||
        isMissing(error, JetStreamApiCodes.StreamNotFound)
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

  /** Moves what used up its deliveries to the dead letters. */
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

  /** The checked job; one that this engine does not understand may be understood by another. */
  #readJob(message: JsMsg): Job | null {
    try {
      return decodeMessage(Job, message.data)
    } catch (error) {
      this.#log.error({ err: error, seq: message.seq }, 'a job is not understood')
      message.nak(restMs(message))
      return null
    }
  }

  async #follow(
    { stream, consumer: name }: Source,
    handle: (message: JsMsg) => Promise<void>,
  ): Promise<Stop> {
    const stopping = new AbortController()
    let messages: { stop(): void } | undefined
    const run = async () => {
      while (!stopping.signal.aborted) {
        try {
          const consumer = await this.#restoring(() => this.#client.consumers.get(stream, name))
          const consumed = await consumer.consume({
            max_messages: IN_HAND_MAX,
            abort_on_missing_resource: true,
          })
          messages = consumed
          if (stopping.signal.aborted) consumed.stop()
          for await (const message of consumed) await this.#handleOne(message, handle)
        } catch (error) {
          this.#log.warn({ err: error, stream }, 'following a stream failed; trying again')
        }
        await sleep(RETRY_MS, undefined, { signal: stopping.signal }).catch(() => undefined)
      }
    }
    const running = run()
    return async () => {
      stopping.abort()
      messages?.stop()
      await running
    }
  }

  async #handleOne(message: JsMsg, handle: (message: JsMsg) => Promise<void>): Promise<void> {
    try {
      await handle(message)
      message.ack()
    } catch (error) {
      const {
        subject,
        seq,
        info: { deliveryCount: deliveries },
      } = message
      this.#log.error({ err: error, subject, seq, deliveries }, 'a message could not be handled')
      message.nak(restMs(message))
    }
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
          this.#log.error({ err: cause, subject }, 'bad message')
        }
      },
    })
    return async () => subscription.unsubscribe()
  }
}

function leaseActions(message: JsMsg): Pick<Lease, 'heartbeat' | 'ack' | 'nak'> {
  return {
    heartbeat: () => message.working(),
    async ack() {
      await message.ackAck()
    },
    nak: (delayMs) => message.nak(delayMs),
  }
}
