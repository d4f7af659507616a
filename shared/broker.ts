/**
 * The only NATS code. Jobs go one way through a work-queue stream with leases; events come back
 * through a durable stream; progress and hellos travel on core NATS and may be lost.
 *
 * A lease is kept by heartbeats and ends by ack, nak or silence. JetStream has no fencing: the
 * first holder's late ack is accepted, so truth and attempts live in the gateway's database.
 */

import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  AckPolicy, DiscardPolicy, JetStreamApiCodes, JetStreamApiError, jetstream, jetstreamManager,
  RetentionPolicy, StorageType, type JetStreamClient, type JetStreamManager, type JsMsg,
  type StreamConfig,
} from '@nats-io/jetstream'
import { connect, type NatsConnection } from '@nats-io/transport-node'
import type { TSchema, Static } from 'typebox'
import type { Logger } from './log.ts'
import {
  decodeMessage, encodeMessage, EngineHello, Event, Job, Progress,
} from './messages.ts'

const JOBS = { stream: 'JOBS', subject: 'jobs.separate', consumer: 'engines' }
const EVENTS = { stream: 'EVENTS', subject: 'events', consumer: 'gateway' }
const EXHAUSTED = {
  stream: 'EXHAUSTED',
  subject: `$JS.EVENT.ADVISORY.CONSUMER.MAX_DELIVERIES.${JOBS.stream}.${JOBS.consumer}`,
  consumer: 'gateway',
}
const PROGRESS_SUBJECT = 'progress'
const HELLO_SUBJECT = 'engines.hello'

const SECOND_NS = 1_000_000_000
/** Deliveries of one job, the first included; then it is reported as exhausted. */
const DELIVERIES_MAX = 6
const JOBS_MAX = 1_000_000
const EVENT_ACK_WAIT_SECONDS = 30
const EVENTS_IN_FLIGHT_MAX = 64
/** How long a message that could not be handled rests before it comes again. */
const RETRY_MS = 1_000

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
  publishJob(job: Job, messageId: string): Promise<number>
  /** Removes a queued job; false when it is no longer there. */
  removeJob(sequence: number): Promise<boolean>
  hasJob(sequence: number): Promise<boolean>
  /** The next job, or null when none came within `waitMs` (at least 1000). */
  leaseJob(waitMs: number): Promise<Lease | null>
  /** Resolves once the event is durable. Repeating an event of an attempt stores nothing new. */
  publishEvent(event: Event): Promise<void>
  /**
   * Hands over events in order; one is acknowledged when `handle` resolves, and comes again if not.
   */
  followEvents(handle: (event: Event) => Promise<void>): Promise<Stop>
  /** Jobs that used up their deliveries; removed from the queue once `handle` resolves. */
  followExhaustedJobs(handle: (exhausted: ExhaustedJob) => Promise<void>): Promise<Stop>
  publishProgress(progress: Progress): void
  followProgress(handle: (progress: Progress) => void): Stop
  publishHello(hello: EngineHello): void
  followHellos(handle: (hello: EngineHello) => void): Stop
  isConnected(): boolean
  /** Sends what is buffered, then disconnects. */
  close(): Promise<void>
}

export interface ExhaustedJob {
  requestId: string
  sequence: number
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

/** Connects, and creates or updates the streams. Reconnects for ever once it has been connected. */
export async function connectBroker(options: BrokerOptions): Promise<Broker> {
  const connection = await connect({
    ...serversAndCredentials(options.url),
    name: options.name,
    maxReconnectAttempts: -1,
    reconnectTimeWait: 500,
  })
  const manager = await jetstreamManager(connection)
  await ensureStreams(manager, options.leaseSeconds)
  return new JetStreamBroker(connection, manager, options)
}

function serversAndCredentials(url: string) {
  const servers = url.split(',').map((server) => server.trim())
  const first = new URL(servers[0] ?? '')
  const [user, pass] = [first.username, first.password].map(decodeURIComponent)
  return {
    servers: servers.map((server) => new URL(server).host),
    ...(user && pass ? { user, pass } : user ? { token: user } : {}),
  }
}

async function ensureStreams(manager: JetStreamManager, leaseSeconds: number): Promise<void> {
  await ensureStream(manager, {
    name: JOBS.stream,
    subjects: [JOBS.subject],
    retention: RetentionPolicy.Workqueue,
    storage: StorageType.File,
    discard: DiscardPolicy.New, // a full queue refuses: it must never forget an accepted job
    max_msgs: JOBS_MAX,
    duplicate_window: 120 * SECOND_NS,
  })
  await ensureStream(manager, {
    name: EVENTS.stream,
    subjects: [EVENTS.subject],
    retention: RetentionPolicy.Workqueue,
    storage: StorageType.File,
    duplicate_window: 120 * SECOND_NS,
  })
  await ensureStream(manager, {
    name: EXHAUSTED.stream,
    subjects: [EXHAUSTED.subject],
    retention: RetentionPolicy.Workqueue,
    storage: StorageType.File,
  })
  await manager.consumers.add(JOBS.stream, {
    durable_name: JOBS.consumer,
    ack_policy: AckPolicy.Explicit,
    ack_wait: leaseSeconds * SECOND_NS,
    max_deliver: DELIVERIES_MAX,
    max_ack_pending: -1, // bounded by the engines, which lease only what they have room for
  })
  for (const { stream, consumer } of [EVENTS, EXHAUSTED]) {
    await manager.consumers.add(stream, {
      durable_name: consumer,
      ack_policy: AckPolicy.Explicit,
      ack_wait: EVENT_ACK_WAIT_SECONDS * SECOND_NS,
      max_ack_pending: EVENTS_IN_FLIGHT_MAX,
    })
  }
}

type NamedStream = Partial<StreamConfig> & { name: string }

async function ensureStream(manager: JetStreamManager, config: NamedStream): Promise<void> {
  try {
    await manager.streams.update(config.name, config)
  } catch (error) {
    if (!isMissing(error, JetStreamApiCodes.StreamNotFound)) throw error
    await manager.streams.add(config)
  }
}

const isMissing = (error: unknown, code: number): boolean =>
  error instanceof JetStreamApiError && error.code === code

class JetStreamBroker implements Broker {
  readonly #connection: NatsConnection
  readonly #manager: JetStreamManager
  readonly #client: JetStreamClient
  readonly #leaseSeconds: number
  readonly #log: Logger
  #connected = true

  constructor(connection: NatsConnection, manager: JetStreamManager, options: BrokerOptions) {
    this.#connection = connection
    this.#manager = manager
    this.#client = jetstream(connection)
    this.#leaseSeconds = options.leaseSeconds
    this.#log = options.log
    void this.#watchConnection()
  }

  async publishJob(job: Job, messageId: string): Promise<number> {
    const receipt = await this.#publish(JOBS.subject, encodeMessage(job), messageId)
    return receipt.seq
  }

  async removeJob(sequence: number): Promise<boolean> {
    try {
      return await this.#manager.streams.deleteMessage(JOBS.stream, sequence)
    } catch (error) {
      if (await this.hasJob(sequence)) throw error
      return false
    }
  }

  async hasJob(sequence: number): Promise<boolean> {
    return (await this.#storedJob(sequence)) !== null
  }

  async leaseJob(waitMs: number): Promise<Lease | null> {
    const consumer = await this.#restoring(() =>
      this.#client.consumers.get(JOBS.stream, JOBS.consumer))
    const message = await consumer.next({ expires: waitMs })
    if (!message) return null
    const job = this.#decode(Job, message)
    const deliveries = message.info.deliveryCount
    return job && { job, attemptId: randomUUID(), deliveries, ...leaseActions(message) }
  }

  async publishEvent(event: Event): Promise<void> {
    const messageId = `${event.attempt_id}:${event.type}`
    await this.#publish(EVENTS.subject, encodeMessage(event), messageId)
  }

  followEvents(handle: (event: Event) => Promise<void>): Promise<Stop> {
    return this.#follow(EVENTS, async (message) => {
      const event = this.#decode(Event, message)
      if (event) await handle(event)
    })
  }

  followExhaustedJobs(handle: (exhausted: ExhaustedJob) => Promise<void>): Promise<Stop> {
    return this.#follow(EXHAUSTED, async (message) => {
      const sequence = message.json<{ stream_seq: number }>().stream_seq
      const stored = await this.#storedJob(sequence)
      if (!stored) return
      await handle({ requestId: decodeMessage(Job, stored).request_id, sequence })
      await this.removeJob(sequence)
    })
  }

  publishProgress(progress: Progress): void {
    this.#connection.publish(PROGRESS_SUBJECT, encodeMessage(progress))
  }

  followProgress(handle: (progress: Progress) => void): Stop {
    return this.#subscribe(PROGRESS_SUBJECT, Progress, handle)
  }

  publishHello(hello: EngineHello): void {
    this.#connection.publish(HELLO_SUBJECT, encodeMessage(hello))
  }

  followHellos(handle: (hello: EngineHello) => void): Stop {
    return this.#subscribe(HELLO_SUBJECT, EngineHello, handle)
  }

  isConnected(): boolean {
    return this.#connected && !this.#connection.isClosed()
  }

  async close(): Promise<void> {
    if (!this.#connection.isClosed()) await this.#connection.drain()
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
      if (!(await this.#streamsAreMissing())) throw error
      this.#log.warn({ err: error }, 'the broker has lost its streams: making them anew')
      await ensureStreams(this.#manager, this.#leaseSeconds)
      return use()
    }
  }

  async #streamsAreMissing(): Promise<boolean> {
    try {
      await this.#manager.consumers.info(JOBS.stream, JOBS.consumer)
      await this.#manager.consumers.info(EVENTS.stream, EVENTS.consumer)
      return false
    } catch (error) {
      return isMissing(error, JetStreamApiCodes.StreamNotFound) ||
        isMissing(error, JetStreamApiCodes.ConsumerNotFound)
    }
  }

  async #storedJob(sequence: number): Promise<Uint8Array | null> {
    try {
      const stored = await this.#manager.streams.getMessage(JOBS.stream, { seq: sequence })
      return stored?.data ?? null
    } catch (error) {
      const gone = isMissing(error, JetStreamApiCodes.NoMessageFound) ||
        isMissing(error, JetStreamApiCodes.StreamNotFound)
      if (gone) return null
      throw error
    }
  }

  /** The checked message; one that can't be understood is taken out of the stream, and said so. */
  #decode<T extends TSchema>(schema: T, message: JsMsg): Static<T> | null {
    try {
      return decodeMessage(schema, message.data)
    } catch (error) {
      this.#log.error({ err: error, subject: message.subject, seq: message.seq }, 'bad message')
      message.term('not understood')
      return null
    }
  }

  async #follow(
    { stream, consumer: name }: { stream: string; consumer: string },
    handle: (message: JsMsg) => Promise<void>,
  ): Promise<Stop> {
    const stopping = new AbortController()
    let messages: { stop(): void } | undefined
    const run = async () => {
      while (!stopping.signal.aborted) {
        try {
          const consumer = await this.#restoring(() => this.#client.consumers.get(stream, name))
          const consumed = await consumer.consume({
            max_messages: EVENTS_IN_FLIGHT_MAX,
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
      this.#log.error({ err: error, subject: message.subject }, 'a message could not be handled')
      message.nak(RETRY_MS)
    }
  }

  #subscribe<T extends TSchema>(
    subject: string, schema: T, handle: (message: Static<T>) => void,
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
    return async () => {
      if (!subscription.isClosed()) await subscription.drain()
    }
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
