/** The streams and consumers on the broker, with their limits. */

import { isDeepStrictEqual } from 'node:util'
import {
  AckPolicy,
  DiscardPolicy,
  JetStreamApiCodes,
  JetStreamApiError,
  RetentionPolicy,
  StorageType,
  type ConsumerConfig,
  type JetStreamManager,
  type StreamConfig,
} from '@nats-io/jetstream'
import { DAY_SECONDS, HOUR_SECONDS } from '../durations.ts'
import { StartError } from '../process/lifecycle.ts'

/** The stream and consumer to read. */
export interface Source {
  stream: string
  consumer: string
}

/**
 * The job queues, starting with those that may use most of an engine. `short` and `first` hold an
 * account's only interactive job of that length; `short-further` and `further` hold its others.
 */
export const JOB_QUEUE_NAMES = ['short', 'short-further', 'first', 'further', 'batch'] as const

export type JobQueue = (typeof JOB_QUEUE_NAMES)[number]

export const JOBS = { stream: 'JOBS' }
export const JOB_QUEUES = {
  first: { stream: JOBS.stream, subject: 'jobs.separate', consumer: 'engines' },
  further: { stream: JOBS.stream, subject: 'jobs.further', consumer: 'engines-further' },
  'short-further': {
    stream: JOBS.stream,
    subject: 'jobs.short-further',
    consumer: 'engines-short-further',
  },
  short: { stream: JOBS.stream, subject: 'jobs.short', consumer: 'engines-short' },
  batch: { stream: JOBS.stream, subject: 'jobs.batch', consumer: 'engines-batch' },
} as const satisfies Record<JobQueue, Source & { subject: string }>
/** Prefix of the subjects of jobs that name their model. */
const NAMED_SUBJECT = 'jobs.named'
const JOB_SUBJECTS = [
  ...Object.values(JOB_QUEUES).map(({ subject }) => subject),
  `${NAMED_SUBJECT}.>`,
]
export const EVENTS = { stream: 'EVENTS', subject: 'events', consumer: 'gateway' }
/** The server's advisories about jobs and events that have used up their deliveries. */
export const EXHAUSTED = { stream: 'EXHAUSTED', consumer: 'gateway' }
/**
 * The undeliverable messages themselves, for an admin to read; the subject ends with their stream.
 */
export const DEAD_LETTERS = { stream: 'DEAD_LETTERS', subject: 'dead', consumer: 'gateway' }

/**
 * Returns the source of jobs that name this model; without a name, of those that any engine may
 * take.
 */
export function jobSource(queue: JobQueue, model?: string): Source & { subject: string } {
  if (model === undefined) return JOB_QUEUES[queue]
  const name = model.replaceAll('.', '=') // dots separate parts of subjects, and no name has a `=`
  return {
    stream: JOBS.stream,
    subject: `${NAMED_SUBJECT}.${queue}.${name}`,
    consumer: `engines-named-${queue}-${name}`,
  }
}

export const STREAM_NAMES = [JOBS, EVENTS, EXHAUSTED, DEAD_LETTERS].map(({ stream }) => stream)
const CONSUMERS: readonly Source[] = [...Object.values(JOB_QUEUES), EVENTS, EXHAUSTED, DEAD_LETTERS]

const SECOND_NS = 1_000_000_000
const DAY_NS = DAY_SECONDS * SECOND_NS
/** How often a job is delivered, including the first time, before it becomes a dead letter. */
const JOB_DELIVERIES_MAX = 6
const JOBS_MAX = 1_000_000
/**
 * How often an event is delivered. With the delays between attempts this takes about an hour, so
 * that an outage of the database loses no events.
 */
const EVENT_DELIVERIES_MAX = 64
const EVENT_ACK_WAIT_SECONDS = 30
const EXHAUSTED_DAYS = 7
const DEAD_LETTER_DAYS = 14
const DEAD_LETTER_BYTES_MAX = 64 * 2 ** 20

const INSTALLATION_KEY = 'winnow-installation'

export interface StreamOptions {
  /** Seconds without a heartbeat after which a lease ends. */
  leaseSeconds: number
  /** The installation that owns the streams; undefined for an engine, which serves any. */
  installation?: string | undefined
  /** How many servers keep each stream; 0 keeps the current number, or 1 for a new stream. */
  replicas: number
}

/**
 * Creates the streams and consumers, or gives them the limits of this version. Marks them as the
 * installation's if they have no owner yet.
 * @throws StartError if they belong to another installation, because each would take the other's
 *   events
 */
export async function ensureStreams(
  manager: JetStreamManager,
  { leaseSeconds, replicas, installation }: StreamOptions,
): Promise<void> {
  const copies = replicas === 0 ? {} : { num_replicas: replicas }
  if (installation !== undefined) await assertNotOfAnother(manager, installation)
  for (const stream of streams(installation)) await ensureStream(manager, { ...stream, ...copies })
  for (const queue of Object.values(JOB_QUEUES)) {
    await ensureJobConsumer(manager, queue, leaseSeconds)
  }
  for (const source of [EVENTS, EXHAUSTED, DEAD_LETTERS]) {
    await ensureConsumer(manager, source, {
      ack_wait: EVENT_ACK_WAIT_SECONDS * SECOND_NS,
      max_deliver: EVENT_DELIVERIES_MAX,
      max_ack_pending: -1, // delayed messages must not block the others
    })
  }
}

/** Creates the consumer of a job queue, or gives it the limits of this version. */
export const ensureJobConsumer = (
  manager: JetStreamManager,
  queue: Source & { subject: string },
  leaseSeconds: number,
): Promise<void> =>
  ensureConsumer(manager, queue, {
    filter_subject: queue.subject,
    ack_wait: leaseSeconds * SECOND_NS,
    max_deliver: JOB_DELIVERIES_MAX,
    max_ack_pending: -1, // bounded by the engines, which lease only what they have room for
  })

/** Thrown if no gateway has created the streams yet. */
export class NoStreamsError extends Error {
  constructor() {
    super('the broker has no streams of Winnow yet')
    this.name = 'NoStreamsError'
  }
}

/** @throws NoStreamsError if the job queues do not exist */
export async function assertJobQueues(manager: JetStreamManager): Promise<void> {
  for (const { stream, consumer } of Object.values(JOB_QUEUES)) {
    if (!(await hasConsumer(manager, { stream, consumer }))) throw new NoStreamsError()
  }
}

export async function hasConsumer(
  manager: JetStreamManager,
  { stream, consumer }: Source,
): Promise<boolean> {
  try {
    await manager.consumers.info(stream, consumer)
    return true
  } catch (error) {
    if (isAbsent(error)) return false
    throw error
  }
}

/**
 * Whether the server lacks a stream, a consumer or a subject. When an older process starts, it
 * removes subjects that it does not know.
 */
export async function streamsAreMissing(manager: JetStreamManager): Promise<boolean> {
  try {
    const { subjects } = (await manager.streams.info(JOBS.stream)).config
    if (!JOB_SUBJECTS.every((subject) => subjects.includes(subject))) return true
    for (const { stream, consumer } of CONSUMERS) {
      await manager.consumers.info(stream, consumer)
    }
    return false
  } catch (error) {
    return isAbsent(error)
  }
}

const isAbsent = (error: unknown): boolean =>
  hasCode(error, JetStreamApiCodes.StreamNotFound) ||
  hasCode(error, JetStreamApiCodes.ConsumerNotFound)

/** The server's code for a stream that exists with another configuration. */
const NAME_IN_USE = 10058

export const hasCode = (error: unknown, code: number): boolean =>
  error instanceof JetStreamApiError && error.code === code

type NamedStream = Partial<StreamConfig> & { name: string }

async function assertNotOfAnother(manager: JetStreamManager, installation: string): Promise<void> {
  const owner = await ownerOf(manager)
  if (owner === undefined || owner === installation) return
  throw new StartError(
    `NATS_URL: the broker carries the jobs of installation ${owner}, but the database is that of ` +
      `${installation}. Give each installation a broker of its own, or an account on it. Where ` +
      `${owner} is gone for good, remove the broker's streams: ${STREAM_NAMES.join(', ')}.`,
  )
}

/** Returns the installation whose jobs the broker carries; undefined if it has none yet. */
export const ownerOf = async (manager: JetStreamManager): Promise<string | undefined> =>
  (await configOf(manager, JOBS.stream))?.metadata?.[INSTALLATION_KEY]

/** Returns the configuration of a stream; undefined if there is no such stream. */
async function configOf(
  manager: JetStreamManager,
  stream: string,
): Promise<StreamConfig | undefined> {
  try {
    return (await manager.streams.info(stream)).config
  } catch (error) {
    if (hasCode(error, JetStreamApiCodes.StreamNotFound)) return undefined
    throw error
  }
}

const streams = (installation?: string): NamedStream[] => [
  {
    name: JOBS.stream,
    ...(installation !== undefined && { metadata: { [INSTALLATION_KEY]: installation } }),
    subjects: JOB_SUBJECTS,
    retention: RetentionPolicy.Workqueue,
    storage: StorageType.File,
    discard: DiscardPolicy.New, // a full queue refuses new jobs and never drops an accepted one
    max_msgs: JOBS_MAX,
    duplicate_window: 120 * SECOND_NS,
  },
  {
    name: EVENTS.stream,
    subjects: [EVENTS.subject],
    retention: RetentionPolicy.Workqueue,
    storage: StorageType.File,
    duplicate_window: 120 * SECOND_NS,
  },
  {
    name: EXHAUSTED.stream,
    subjects: [JOBS, EVENTS].map(
      ({ stream }) => `$JS.EVENT.ADVISORY.CONSUMER.MAX_DELIVERIES.${stream}.*`,
    ),
    retention: RetentionPolicy.Workqueue,
    storage: StorageType.File,
    max_age: EXHAUSTED_DAYS * DAY_NS,
  },
  {
    name: DEAD_LETTERS.stream,
    subjects: [`${DEAD_LETTERS.subject}.*`],
    retention: RetentionPolicy.Limits,
    storage: StorageType.File,
    discard: DiscardPolicy.Old,
    max_age: DEAD_LETTER_DAYS * DAY_NS,
    max_bytes: DEAD_LETTER_BYTES_MAX,
    duplicate_window: 2 * HOUR_SECONDS * SECOND_NS, // outlasts the attempts to move a message here
  },
]

/**
 * Creates a stream, or updates its configuration if it differs. An update sends the whole
 * configuration that was read. An engine that had read it before a gateway added its mark would
 * therefore remove the mark, so nothing is sent unless something differs.
 */
async function ensureStream(manager: JetStreamManager, config: NamedStream): Promise<void> {
  const current = await configOf(manager, config.name)
  if (current === undefined) return addStream(manager, config)
  const present = { metadata: {}, ...current }
  const updated = { ...present, ...config, metadata: { ...present.metadata, ...config.metadata } }
  if (!isDeepStrictEqual(updated, present)) await manager.streams.update(config.name, config)
}

/**
 * Adds a stream, which another process may have added first, with or without an installation's
 * mark.
 */
async function addStream(manager: JetStreamManager, config: NamedStream): Promise<void> {
  try {
    await manager.streams.add(config)
  } catch (error) {
    if (!hasCode(error, NAME_IN_USE)) throw error
    await ensureStream(manager, config)
  }
}

async function ensureConsumer(
  manager: JetStreamManager,
  { stream, consumer }: Source,
  limits: Partial<ConsumerConfig>,
): Promise<void> {
  try {
    await manager.consumers.update(stream, consumer, limits)
  } catch (error) {
    if (!hasCode(error, JetStreamApiCodes.ConsumerNotFound)) throw error
    await manager.consumers.add(stream, {
      durable_name: consumer,
      ack_policy: AckPolicy.Explicit,
      ...limits,
    })
  }
}
