/** Connects to the broker, and explains why when it cannot. */

import { readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { JetStreamApiError, jetstreamManager, type JetStreamManager } from '@nats-io/jetstream'
import {
  connect,
  credsAuthenticator,
  errors,
  type ConnectionOptions,
  type NatsConnection,
} from '@nats-io/transport-node'
import { assertJobQueues, ensureStreams, NoStreamsError } from './streams.ts'
import { MINUTE_MS } from '../durations.ts'
import { StartError } from '../process/lifecycle.ts'
import type { Logger } from '../telemetry/log.ts'
import type { SettingReader } from '../process/settings.ts'

/** Address and credentials of the broker, the same for gateways and engines. */
export interface BrokerAddress {
  /**
   * `nats://[user:password@ | token@]host:port`, several of them separated by commas; `tls:`
   * requires TLS.
   */
  url: string
  /** File with a user's JWT and seed, as `nsc` writes it; used instead of user or token. */
  credentialsFile?: string | undefined
  /**
   * PEM certificates of the authorities trusted to sign the servers' certificates; requires TLS.
   */
  caFile?: string | undefined
  /** How many servers keep each stream; 0 keeps the current number, or 1 for a new stream. */
  replicas?: number
}

export const readBrokerAddress = ({
  text,
  optional,
  integer,
}: Pick<SettingReader, 'text' | 'optional' | 'integer'>): BrokerAddress => ({
  url: text('NATS_URL'),
  credentialsFile: optional('NATS_CREDS'),
  caFile: optional('NATS_CA'),
  replicas: integer('NATS_REPLICAS', 0, 5, 0),
})

export interface ConnectOptions {
  address: BrokerAddress
  /** Shown in the server's list of connections. */
  name: string
  /** Seconds without a heartbeat after which a lease ends. */
  leaseSeconds: number
  /** The gateway's installation, whose jobs the broker carries. */
  installation?: string
  /**
   * Whether this is an engine, which uses the streams as gateways make them and may not change
   * them.
   */
  isEngine?: boolean
  log: Logger
  /** How long a broker may take to answer; Infinity waits forever. */
  waitMsMax?: number
  /** Called once, if the first attempt finds no usable broker. */
  onAway?: () => void
  /** Aborts the waiting, which then fails with the signal's reason. */
  signal?: AbortSignal
}

/** How long a broker that is started together with this process may take to answer. */
const WAIT_MS_MAX = MINUTE_MS
const DIAL_MS_MAX = 5_000
/** Detects within half a minute that a broker vanished silently; the default takes six minutes. */
const PINGS = { pingInterval: 10_000, maxPingOut: 2 }
/** Delay between attempts to connect, doubled up to the maximum. */
const RETRY_DELAY_MS = { least: 250, most: 5_000 }
const SCHEMES = ['nats:', 'tls:']
/** The server's codes for temporary states: a cluster without a leader, or missing some servers. */
const TRANSIENT_CODES = [10005, 10008, 10009, 10023, 10077, 10118]
/** Prefix of the subjects for replies to an engine, which may not read those of others. */
const ENGINE_INBOX = '_INBOX_ENGINE'
const CLUSTER_NEEDED = 10074
const NO_ROOM = 10047

/**
 * Connects to the broker. If the broker cannot be used yet, waits for it and reports that once.
 * A connection that is lost later is restored, however long that takes.
 * @param open makes the connection useful; an error from it that is not temporary ends the waiting
 * @throws StartError if nobody answers in time, or at once if waiting would not help
 */
export async function connectServer(
  options: ConnectOptions,
  open: typeof openStreams = openStreams,
): Promise<{ connection: NatsConnection; manager: JetStreamManager }> {
  const { log, waitMsMax = WAIT_MS_MAX, onAway, signal } = options
  const { options: dial, broker } = await dialOptions(options)
  const startedAt = performance.now()
  for (
    let retryDelayMs = RETRY_DELAY_MS.least;
    ;
    retryDelayMs = Math.min(retryDelayMs * 2, RETRY_DELAY_MS.most)
  ) {
    try {
      const connection = await connect(dial)
      return { connection, manager: await open(connection, options) }
    } catch (cause) {
      const { message } = cause as Error
      assertTransient(cause, broker)
      if (performance.now() - startedAt + retryDelayMs > waitMsMax) {
        throw new StartError(
          cause instanceof NoStreamsError
            ? `NATS_URL: ${message}, after ${waitMsMax / 1_000} s. Start a gateway: it makes them.`
            : `NATS_URL: no broker answers at ${broker} (${message}), after ` +
                `${waitMsMax / 1_000} s. Start nats-server there, or correct NATS_URL.`,
          { cause },
        )
      }
      if (retryDelayMs === RETRY_DELAY_MS.least) {
        log.warn({ broker, reason: message }, 'the broker does not answer yet: waiting for it')
        onAway?.()
      }
    }
    await sleep(retryDelayMs, undefined, { signal })
  }
}

/** @throws StartError if a retry would fail in the same way */
function assertTransient(cause: unknown, broker: string): void {
  if (cause instanceof StartError) throw cause
  const { message } = cause as Error
  // A server that is slow to ask for credentials is not refusing them.
  if (cause instanceof errors.AuthorizationError && !/timeout/i.test(message)) {
    throw new StartError(
      `NATS_URL: the broker at ${broker} refuses the credentials (${message}). ` +
        'Correct the token, or the user and password, in NATS_URL, or the file in NATS_CREDS.',
      { cause },
    )
  }
  if (/certificate|self.signed|altnames/i.test(message)) {
    throw new StartError(
      `NATS_CA: the certificate of the broker at ${broker} cannot be trusted (${message}). ` +
        'Set NATS_CA to the certificates of its authorities, and renew those that have expired.',
      { cause },
    )
  }
}

/** @throws StartError if a file cannot be read or the URL is malformed */
async function dialOptions({ address, name, isEngine = false }: ConnectOptions) {
  const { url, credentialsFile, caFile } = address
  const servers = url.split(',').map((server) => parseServer(server.trim()))
  const options: ConnectionOptions = {
    servers: servers.map(({ host }) => host),
    name,
    timeout: DIAL_MS_MAX,
    maxReconnectAttempts: -1,
    noAsyncTraces: true, // otherwise every call creates an error with a stack
    reconnectTimeWait: 500,
    ...PINGS,
    ...(isEngine && { inboxPrefix: ENGINE_INBOX }),
    ignoreAuthErrorAbort: true, // two refusals, as by a broker that is set up late, would end it
  }
  if (credentialsFile === undefined) Object.assign(options, credentialsOf(servers[0]!))
  else options.authenticator = credsAuthenticator(await readSetting('NATS_CREDS', credentialsFile))
  if (caFile !== undefined) {
    options.tls = { ca: (await readSetting('NATS_CA', caFile)).toString() }
  } else if (servers.some(({ protocol }) => protocol === 'tls:')) options.tls = {}
  return { options, broker: servers.map(({ host }) => host).join(', ') }
}

async function readSetting(name: string, path: string): Promise<Buffer> {
  try {
    return await readFile(path)
  } catch (cause) {
    throw new StartError(`${name}: ${path} cannot be read (${(cause as Error).message}).`, {
      cause,
    })
  }
}

function credentialsOf({ username, password }: URL): ConnectionOptions {
  const [user, pass] = [username, password].map(decodeURIComponent)
  return user && pass ? { user, pass } : user ? { token: user } : {}
}

/** @throws StartError without the address, because it may contain a password */
function parseServer(server: string): URL {
  const parsed = URL.canParse(server) ? new URL(server) : undefined
  if (parsed && parsed.host !== '' && SCHEMES.includes(parsed.protocol)) return parsed
  throw new StartError(
    'NATS_URL must have the form nats://[user:password@ | token@]host:port, ' +
      'or several of these separated by commas.',
  )
}

/**
 * Returns the streams' manager once the streams have the form that this version needs.
 * @throws StartError if the server cannot keep the streams; another error if it cannot do so yet
 */
export const openStreams = (
  connection: NatsConnection,
  { leaseSeconds, installation, isEngine, address: { replicas = 0 } }: ConnectOptions,
): Promise<JetStreamManager> =>
  orClosed(connection, replicas, async () => {
    const manager = await jetstreamManager(connection)
    if (isEngine) await assertJobQueues(manager)
    else await ensureStreams(manager, { leaseSeconds, replicas, installation })
    return manager
  })

/**
 * Returns the streams' manager, which changes nothing by itself.
 * @throws like `openStreams`
 */
export const manageStreams = (connection: NatsConnection): Promise<JetStreamManager> =>
  orClosed(connection, 0, () => jetstreamManager(connection))

async function orClosed<T>(
  connection: NatsConnection,
  replicas: number,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    const server = connection.getServer()
    await connection.close()
    if (cause instanceof StartError || isTransient(cause)) throw cause
    const { message } = cause as Error
    if (/permissions violation/i.test(message)) {
      throw new StartError(
        `NATS_URL: the user lacks permissions that this process needs at the broker at ${server} ` +
          `(${message}). Name the user that ops/nats-cluster.conf has for its role.`,
        { cause },
      )
    }
    if (cause instanceof JetStreamApiError && cause.code === CLUSTER_NEEDED) {
      throw new StartError(
        `NATS_REPLICAS: the broker at ${server} is a single server and cannot keep ${replicas} ` +
          'copies of a stream. Set NATS_REPLICAS to 1, or form a cluster of three servers.',
        { cause },
      )
    }
    if (cause instanceof JetStreamApiError && cause.code === NO_ROOM) {
      throw new StartError(
        `NATS_URL: the broker at ${server} has no disk space for the streams (${message}). Free ` +
          'space on the disk of its store_dir, or raise its max_file_store.',
        { cause },
      )
    }
    throw new StartError(
      `NATS_URL: the broker at ${server} has no JetStream (${message}). ` +
        'Start nats-server with JetStream (-js).',
      { cause },
    )
  }
}

/**
 * Whether the broker may be able to provide the streams soon, because it is starting or electing a
 * leader.
 */
const isTransient = (error: unknown): boolean =>
  error instanceof JetStreamApiError
    ? TRANSIENT_CODES.includes(error.code)
    : error instanceof NoStreamsError ||
      error instanceof errors.TimeoutError ||
      error instanceof errors.ConnectionError ||
      error instanceof errors.ClosedConnectionError

/**
 * Returns a sentence that says why the broker stored nothing; null if it refused the message
 * itself.
 * @param error the error of a publish
 */
export function refusalOf(error: unknown): string | null {
  const { message, cause } = error as Error
  const isUnable =
    error instanceof errors.TimeoutError ||
    (error instanceof JetStreamApiError && error.status === 503) ||
    (cause instanceof errors.RequestError && cause.isNoResponders()) // JetStream is off
  if (!isUnable) return null
  return (
    `The broker stores no messages (${message}): its disk may be full, or too few of its servers ` +
    'run. Free disk space, then restart nats-server.'
  )
}
