/**
 * Checks the broker: whether it answers, its streams, their replicas and contents, and its clock.
 */

import type { JetStreamManager, StreamInfo } from '@nats-io/jetstream'
import { connectServer, manageStreams } from '../../../../shared/broker/connection.ts'
import {
  assertJobQueues,
  DEAD_LETTERS,
  JOB_QUEUES,
  NoStreamsError,
  ownerOf,
  STREAM_NAMES,
} from '../../../../shared/broker/streams.ts'
import { createLogger } from '../../../../shared/telemetry/log.ts'
import { commandText } from '../../command-name.ts'
import type { Context } from '../context.ts'
import { failure, okFinding, unusedFinding, warning, type Finding } from '../finding.ts'
import { clockFinding } from './clock.ts'
import { compareOwner } from './installation.ts'

const WAIT_MS_MAX = 3_000

export async function checkBroker(context: Context): Promise<Finding[]> {
  const { natsUrl: url, env } = context
  if (url === undefined) {
    const found = `NATS_URL is not set: ${commandText('start')} runs one, and it does not run now`
    return [unusedFinding('broker', found)]
  }
  const log = createLogger('doctor', 'silent')
  const isEngine = context.gateway === undefined // the user of this host may be that of an engine
  try {
    const address = { url, credentialsFile: env.NATS_CREDS, caFile: env.NATS_CA }
    const { connection, manager } = await connectServer(
      { address, name: 'doctor', leaseSeconds: 0, isEngine, log, waitMsMax: WAIT_MS_MAX },
      manageStreams,
    )
    try {
      const { version = '?' } = connection.info ?? {}
      const found = `nats-server ${version} at ${connection.getServer()} answers`
      const streams = isEngine ? queueFindings(manager) : streamFindings(manager, context)
      return [okFinding('broker', found), ...(await streams)]
    } finally {
      if (!connection.isClosed()) await connection.close()
    }
  } catch (error) {
    return [failure('broker', (error as Error).message, 'Without it nothing is separated.')]
  }
}

const GATEWAYS_MAKE_THEM = 'Gateways make them at their start.'

/** Everything that an engine may see of the streams. */
async function queueFindings(manager: JetStreamManager): Promise<Finding[]> {
  try {
    await assertJobQueues(manager)
    return [await queueFinding(manager)]
  } catch (error) {
    if (!(error instanceof NoStreamsError)) throw error
    return [warning('streams', error.message, GATEWAYS_MAKE_THEM)]
  }
}

async function streamFindings(manager: JetStreamManager, context: Context): Promise<Finding[]> {
  const before = Date.now()
  const streams: StreamInfo[] = []
  for await (const info of manager.streams.list()) streams.push(info)
  const between: [number, number] = [before, Date.now()]
  const present = streams.filter(({ config }) => STREAM_NAMES.includes(config.name))
  const absent = STREAM_NAMES.filter((name) => !present.some(({ config }) => config.name === name))
  if (absent.length > 0) {
    const found = `the broker has no ${absent.join(', ')}`
    return [warning('streams', found, GATEWAYS_MAKE_THEM)]
  }
  return [
    replicaFinding(present),
    await queueFinding(manager),
    deadLetterFinding(present),
    ...(context.gateway ? [await compareOwner(context, await ownerOf(manager), 'the broker')] : []),
    clockFinding('broker', Date.parse(present[0]?.ts ?? ''), between),
  ]
}

/** Checks whether all copies of all streams keep up with their leaders. */
export function replicaFinding(
  streams: readonly Pick<StreamInfo, 'config' | 'cluster'>[],
): Finding {
  const behind = streams.flatMap(({ config, cluster }) =>
    (cluster?.replicas ?? [])
      .filter(({ current, offline, lag = 0 }) => !current || offline || lag > 0)
      .map(({ name, offline, lag = 0 }) =>
        offline ? `${config.name} on ${name} is away` : `${config.name} on ${name} lags by ${lag}`,
      ),
  )
  const replicas = [...new Set(streams.map(({ config }) => config.num_replicas))].join(' and ')
  const found = `${streams.map(({ config }) => config.name).join(', ')}, replicas: ${replicas}`
  if (behind.length === 0) return okFinding('streams', found)
  const remedy = 'Look at that nats-server: nats server report jetstream.'
  return warning('streams', `${found}; ${behind.join(', ')}`, remedy)
}

async function queueFinding(manager: JetStreamManager): Promise<Finding> {
  const queues = await Promise.all(
    Object.values(JOB_QUEUES).map(({ stream, consumer }) =>
      manager.consumers.info(stream, consumer),
    ),
  )
  const sum = (count: (queue: (typeof queues)[number]) => number) =>
    queues.reduce((total, queue) => total + count(queue), 0)
  const [waiting, leased] = [
    sum((queue) => queue.num_pending),
    sum((queue) => queue.num_ack_pending),
  ]
  return okFinding('queue', `${waiting} jobs wait, engines have ${leased}`)
}

function deadLetterFinding(streams: readonly StreamInfo[]): Finding {
  const letters = streams.find(({ config }) => config.name === DEAD_LETTERS.stream)?.state.messages
  if (!letters) return okFinding('dead letters', 'none')
  return warning('dead letters', `${letters} messages that nobody could handle`, VIEW_DEAD_LETTERS)
}

const VIEW_DEAD_LETTERS = `nats stream view ${DEAD_LETTERS.stream} shows them.`
