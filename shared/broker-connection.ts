/** The connection to the broker: how it is first made, and what is said when it can't be. */

import { setTimeout as sleep } from 'node:timers/promises'
import { jetstreamManager, type JetStreamManager } from '@nats-io/jetstream'
import {
  connect,
  errors,
  type ConnectionOptions,
  type NatsConnection,
} from '@nats-io/transport-node'
import { StartError } from './lifecycle.ts'
import type { Logger } from './log.ts'

interface Address {
  /** `nats://[user:password@ | token@]host:port`, several separated by commas. */
  url: string
  /** Shown in the server's list of connections. */
  name: string
  log: Logger
}

/** A broker that is started together with this process may take so long to answer. */
const WAIT_MS_MAX = 60_000
const DIAL_MS_MAX = 5_000
/** Rest between two dials; doubled with each, up to the most. */
const REST_MS = { least: 250, most: 5_000 }
const SCHEMES = ['nats:', 'tls:']

/**
 * Connects; waits up to `waitMsMax` for a server that does not answer yet, and says so once.
 * Reconnects for ever once it has been connected.
 * @throws StartError when nobody answers, or at once when the credentials are refused
 */
export async function connectServer(
  { url, name, log }: Address,
  waitMsMax = WAIT_MS_MAX,
): Promise<NatsConnection> {
  const address = serversAndCredentials(url)
  const options = {
    ...address,
    name,
    timeout: DIAL_MS_MAX,
    maxReconnectAttempts: -1,
    reconnectTimeWait: 500,
    ignoreAuthErrorAbort: true, // else two refusals, as of a broker not yet set up, end it for good
  }
  const broker = address.servers.join(', ')
  const startedAt = performance.now()
  for (let restMs = REST_MS.least; ; restMs = Math.min(restMs * 2, REST_MS.most)) {
    try {
      return await connect(options)
    } catch (cause) {
      const { message } = cause as Error
      if (isRefusal(cause)) {
        throw new StartError(
          `NATS_URL: the broker at ${broker} refuses the credentials ` +
            `(${message}). Correct the token, or the user and password, in NATS_URL.`,
          { cause },
        )
      }
      if (performance.now() - startedAt + restMs > waitMsMax) {
        throw new StartError(
          `NATS_URL: no broker answers at ${broker} (${message}), after ` +
            `${waitMsMax / 1_000} s. Start nats-server there, or correct NATS_URL.`,
          { cause },
        )
      }
      if (restMs === REST_MS.least) {
        log.warn({ broker, reason: message }, 'the broker does not answer yet: waiting for it')
      }
    }
    await sleep(restMs)
  }
}

/** @throws StartError when the server has no JetStream */
export async function manageStreams(connection: NatsConnection): Promise<JetStreamManager> {
  try {
    return await jetstreamManager(connection)
  } catch (cause) {
    await connection.close()
    const { message } = cause as Error
    throw new StartError(
      `NATS_URL: the broker at ${connection.getServer()} keeps no streams ` +
        `(${message}). Start nats-server with JetStream (-js).`,
      { cause },
    )
  }
}

/** A server that is slow to ask for the credentials is not one that refuses them. */
const isRefusal = (error: unknown): boolean =>
  error instanceof errors.AuthorizationError && !/timeout/i.test(error.message)

function serversAndCredentials(url: string) {
  const servers = url.split(',').map((server) => parseServer(server.trim()))
  const [user, pass] = [servers[0]!.username, servers[0]!.password].map(decodeURIComponent)
  return {
    servers: servers.map(({ host }) => host),
    ...(user && pass ? { user, pass } : user ? { token: user } : {}),
  } satisfies ConnectionOptions
}

/** @throws StartError that does not show the address: it may hold a password */
function parseServer(server: string): URL {
  const parsed = URL.canParse(server) ? new URL(server) : undefined
  if (parsed && parsed.host !== '' && SCHEMES.includes(parsed.protocol)) return parsed
  throw new StartError(
    'NATS_URL must have the form nats://[user:password@ | token@]host:port, ' +
      'or several of these separated by commas.',
  )
}
