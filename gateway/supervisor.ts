/**
 * Runs several gateway processes on one host that share its ports (GATEWAYS). The first process
 * opens the ports and hands each connection to one of the others in turn. It replaces a process
 * that ends, and holds nothing that a request needs.
 */

import cluster, { type Worker } from 'node:cluster'
import { setTimeout as sleep } from 'node:timers/promises'
import { MINUTE_MS } from '../shared/durations.ts'
import { writeOwnAddress } from '../shared/own-address.ts'
import { announceReady, onShutdown, StartError } from '../shared/process/lifecycle.ts'
import { programArguments } from '../shared/process/programs.ts'
import type { ServiceManager } from '../shared/process/service-manager.ts'
import type { Logger } from '../shared/telemetry/log.ts'
import { portAfter, type Config } from './config.ts'

/** The wait before a process that ended is replaced; it doubles each time. */
const RESTART_MS = { least: 500, most: 30_000 }
/** After a process that has lived this long, the wait is the shortest again. */
const SETTLED_MS = MINUTE_MS

interface Supervision {
  settings: Pick<Config, 'gateways' | 'databaseUrl' | 'dataFolder' | 'port' | 'metricsPort'>
  log: Logger
  manager: ServiceManager
  /** The longest time that a stop takes. */
  stopSecondsMax: number
}

type Addresses = Readonly<Record<string, string>>

/** True in a process that the supervisor has started. */
export const isOneOfSeveral = cluster.isWorker

/**
 * Runs as many gateways as the settings say, and ends this process with them.
 * @throws StartError if they have no PostgreSQL
 */
export async function superviseGateways(supervision: Supervision): Promise<never> {
  const { settings, log, manager, stopSecondsMax } = supervision
  const { gateways, databaseUrl, dataFolder } = settings
  if (databaseUrl === undefined) {
    throw new StartError(
      `GATEWAYS: ${gateways} processes need a PostgreSQL, since one alone works on a SQLite ` +
        'file. Set DATABASE_URL, or leave GATEWAYS at 1.',
    )
  }
  const words = programArguments(new URL('./main.ts', import.meta.url))
  cluster.setupPrimary({
    exec: words.at(-1)!,
    execArgv: [...process.execArgv, ...words.slice(0, -1)],
    args: [],
  })
  let isStopping = false
  const all: Addresses[] = []
  // One after the other, so that only the first brings the schema forward.
  for (let place = 0; place < gateways; place += 1) {
    all.push(await startOne(supervision, place, () => isStopping))
  }
  const [addresses = {}] = all
  const { address = '', admin: adminUrl } = addresses
  const removeAddress = await writeOwnAddress(dataFolder, address, adminUrl)
  onShutdown(log, async () => {
    isStopping = true
    manager.stopping(stopSecondsMax)
    await removeAddress()
    await Promise.all(running().map(end))
  })
  announceReady(addresses)
  const status = () => `serving at ${address} by ${running().length} processes`
  manager.ready(status())
  manager.keepAlive(async () => void (await Promise.all(running().map(isTurning))), status)
  log.info({ ...addresses, processes: running().map(({ process: { pid } }) => pid) }, 'is ready')
  return new Promise<never>(() => undefined)
}

const running = (): Worker[] =>
  Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined)

/**
 * Starts the gateway of a place, and replaces it from then on whenever it ends. If it ends before
 * it is ready, this process ends too; the gateway has logged why.
 */
async function startOne(
  supervision: Supervision,
  place: number,
  isStopping: () => boolean,
): Promise<Addresses> {
  const worker = fork(supervision, place)
  const ready = await Promise.race([readyOf(worker), exitOf(worker).then(() => undefined)])
  if (ready === undefined) process.exit(1)
  void replaceOnExit(supervision, place, worker, isStopping)
  return ready
}

function fork({ settings, log }: Supervision, place: number): Worker {
  const first = settings.metricsPort ?? portAfter(settings.port, 1_000)
  const worker = cluster.fork({
    NOTIFY_SOCKET: '', // the service manager knows only this process
    METRICS_PORT: String(first === 'off' ? first : portAfter(first, place)),
  })
  void readyOf(worker).then(() => readyWorkers.add(worker))
  // Passing a connection to a dying process fails like this; its exit is handled separately.
  worker.on('error', (error) => log.warn({ err: error }, 'a gateway process could not be reached'))
  return worker
}

type Exit = { code: number | null; signal: string | null }
const exits = new WeakMap<Worker, Promise<Exit>>()

/** Resolves when a worker has ended. Called right after each fork, so that no exit is missed. */
function exitOf(worker: Worker): Promise<Exit> {
  const earlierExit = exits.get(worker)
  if (earlierExit) return earlierExit
  const exit = new Promise<Exit>((resolve) => {
    worker.once('exit', (code, signal) => resolve({ code, signal }))
  })
  exits.set(worker, exit)
  return exit
}

function readyOf(worker: Worker): Promise<Addresses> {
  return new Promise((resolve) => {
    worker.on('message', (message: { ready?: boolean } & Addresses) => {
      const { ready, ...addresses } = message
      if (ready) resolve(addresses)
    })
  })
}

async function replaceOnExit(
  supervision: Supervision,
  place: number,
  first: Worker,
  isStopping: () => boolean,
): Promise<void> {
  const { log } = supervision
  let waitMs = RESTART_MS.least
  for (let worker = first; ; worker = fork(supervision, place)) {
    const startedAt = performance.now()
    const { pid } = worker.process
    const { code, signal } = await exitOf(worker)
    if (isStopping()) return
    if (performance.now() - startedAt > SETTLED_MS) waitMs = RESTART_MS.least
    log.warn(
      { gatewayPid: pid, code, signal, waitMs },
      'a gateway process ended; another will start',
    )
    if (running().length === 0) {
      log.fatal('all gateway processes ended; this one exits, to be started again')
      process.exit(1)
    }
    await sleep(waitMs)
    waitMs = Math.min(2 * waitMs, RESTART_MS.most)
    if (isStopping()) return
  }
}

/** One that is still starting may wait long for its database, and answers nothing until then. */
const readyWorkers = new WeakSet<Worker>()

/** Resolves once a worker's event loop has turned, or if the worker is not ready or has ended. */
async function isTurning(worker: Worker): Promise<void> {
  if (!worker.isConnected() || !readyWorkers.has(worker)) return
  const ended = exitOf(worker)
  const answered = new Promise<void>((resolve) => {
    const note = (message: { isTurning?: true }) => {
      if (!message.isTurning) return
      worker.off('message', note)
      resolve()
    }
    worker.on('message', note)
  })
  worker.send({ areYouTurning: true }, () => undefined) // it may have ended by now
  await Promise.race([answered, ended])
}

/** Answers the supervisor, in a process that it has started. */
export function answerSupervisor(): void {
  process.on('message', ({ areYouTurning }: { areYouTurning?: true }) => {
    if (areYouTurning) process.send?.({ isTurning: true })
  })
}

async function end(worker: Worker): Promise<void> {
  const ended = exitOf(worker)
  worker.process.kill('SIGTERM')
  await ended
}
