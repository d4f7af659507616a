/** A campaign's processes, with a proxy in front of each connection, small disks and a fake clock. */

import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { startNatsServer } from '../../scripts/cli/start/nats-server.ts'
import { createFakeTime, whyNoFakeTime, type FakeTime } from '../support/processes/fake-time.ts'
import { freePorts } from '../support/processes/free-ports.ts'
import { linesWithSecrets } from '../support/processes/secrets-in-logs.ts'
import { mountSmallDisk, whyNoSmallDisk, type SmallDisk } from '../support/machine/small-disk.ts'
import { startPostgres, type PostgresServer } from '../support/database/start-postgres.ts'
import { launchProgram, type Environment } from '../support/processes/start-program.ts'
import { startTcpProxy, type TcpProxy } from '../support/http/tcp-proxy.ts'
import type { History } from './history.ts'
import { SupervisedProcess, type RunningProcess } from './supervised.ts'

type Scope = Pick<TestContext, 'after'>

export interface WorldOptions {
  database: 'sqlite' | 'postgres'
  gateways: number
  engines: number
  /** Minutes that the faults take, which size the gateway's disk; 0 if they come by the second. */
  minutes: number
  history: History
}

const ADMIN_TOKEN = 'an-admin-token-for-tests-only'
const NATS_TOKEN = 'a-token-for-tests-only'
/** Holds what a campaign of a thousand faults writes, yet fills up quickly. */
const DISK_MEBIBYTES = 256
/** What requests write per minute, plus a half: outputs are kept for at least a day. */
const DISK_MEBIBYTES_A_MINUTE = 4
/** Pause before another attempt to start the broker. */
const BROKER_RETRY_MS = 500

export interface World {
  folder: string
  /** The clients' address: a load balancer in front of the gateways. */
  url: string
  adminToken: string
  processes: {
    broker: SupervisedProcess
    gateways: SupervisedProcess[]
    engines: SupervisedProcess[]
  }
  /** By the connection that they carry. */
  proxies: Readonly<Record<string, TcpProxy>>
  /** By the process that writes to them; empty where this process may not mount any. */
  disks: Readonly<Record<string, SmallDisk>>
  /** Deletes everything the broker stores; the broker must be down. */
  deleteBrokerStore(): Promise<void>
  clock: FakeTime | null
  postgres: PostgresServer | null
  /** Resolves when the last database fault is over. */
  databaseFaults: Promise<void>
  /** Number of full disks: while there is one, a process that starts may exit with 1. */
  fullDisks: number
  /** Kills every process; keeps the files. */
  stop(): Promise<void>
}

/** Starts all processes; they end with the test. */
export async function startWorld(t: Scope, options: WorldOptions): Promise<World> {
  const folder = await mkdtemp(join(tmpdir(), 'winnow-campaign-'))
  t.after(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }))
  const disks = await mountDisks(t, options.minutes)
  const clock = whyNoFakeTime() === null ? createFakeTime(join(folder, 'clock')) : null
  const postgres = options.database === 'postgres' ? await startPostgres() : null
  const ports = await freePorts(1 + options.gateways)
  const [natsPort, ...gatewayPorts] = ports as [number, ...number[]]
  const proxies = await startProxies(t, natsPort, gatewayPorts, options.engines)
  const world = {
    folder,
    url: proxies.clients!.url,
    adminToken: ADMIN_TOKEN,
    proxies,
    disks,
    clock,
    postgres,
    databaseFaults: Promise.resolve(),
    fullDisks: 0,
  } as World
  const common = await commonSettings(world)
  const brokerFolder = disks.broker?.folder ?? join(folder, 'nats')
  const supervise = superviseWith(world, options.history)
  const broker = supervise('broker', () => startBroker(brokerFolder, natsPort))
  const gateways = gatewayPorts.map((port, i) =>
    supervise(`gateway ${i}`, () =>
      launch('gateway/main.ts', options.history, {
        ...common,
        PORT: String(port),
        MEDIA_URL: proxies[`media of gateway ${i}`]!.url,
        NATS_URL: brokerUrl(proxies[`broker of gateway ${i}`]!),
      }),
    ),
  )
  const engines = Array.from({ length: options.engines }, (_, i) =>
    supervise(`engine ${i}`, () =>
      launch('engine/main.ts', options.history, {
        ...common,
        SCRATCH_DIR: join(disks.engine?.folder ?? folder, `scratch-${i}`),
        NATS_URL: brokerUrl(proxies[`broker of engine ${i}`]!),
      }),
    ),
  )
  world.processes = { broker, gateways, engines }
  world.deleteBrokerStore = () => rm(join(brokerFolder, 'store'), { recursive: true, force: true })
  const all = [...gateways, ...engines, broker]
  world.stop = async () => void (await Promise.all(all.map((each) => each.stop())))
  t.after(world.stop)
  for (const each of all) each.start()
  await Promise.all(all.map((each) => each.untilUp()))
  return world
}

async function mountDisks(t: Scope, minutes: number): Promise<World['disks']> {
  if (whyNoSmallDisk() !== null) return {}
  const [gateway, engine, broker] = [
    await mountSmallDisk(t, DISK_MEBIBYTES + Math.ceil(minutes * DISK_MEBIBYTES_A_MINUTE)),
    await mountSmallDisk(t, DISK_MEBIBYTES),
    await mountSmallDisk(t, DISK_MEBIBYTES),
  ]
  return { gateway, engine, broker }
}

async function startProxies(
  t: Scope,
  natsPort: number,
  gatewayPorts: readonly number[],
  engines: number,
): Promise<World['proxies']> {
  const proxies: Record<string, TcpProxy> = {}
  proxies.clients = await startTcpProxy(t, [...gatewayPorts])
  for (const [i, port] of gatewayPorts.entries()) {
    proxies[`media of gateway ${i}`] = await startTcpProxy(t, [port])
    proxies[`broker of gateway ${i}`] = await startTcpProxy(t, [natsPort])
  }
  for (let i = 0; i < engines; i += 1) {
    proxies[`broker of engine ${i}`] = await startTcpProxy(t, [natsPort])
  }
  return proxies
}

/** Settings that gateways and engines share. */
async function commonSettings(world: World): Promise<Environment> {
  const { folder, url, disks, clock, postgres } = world
  const keys = { SIGNING_KEY_FILE: 'signing-key', ENCRYPTION_KEY_FILE: 'encryption-key' }
  const keyFiles: Record<string, string> = {}
  for (const [setting, name] of Object.entries(keys)) {
    const path = (keyFiles[setting] = join(folder, name))
    await writeFile(path, randomBytes(32).toString('base64url'), { mode: 0o600 })
  }
  return {
    ...keyFiles,
    ...clock?.environment,
    ...(postgres && { DATABASE_URL: postgres.urlOf('postgres') }),
    DATA_DIR: disks.gateway?.folder ?? folder,
    HOST: '127.0.0.1',
    GRPC_PORT: '0',
    METRICS_PORT: '0',
    PUBLIC_URL: url,
    ADMIN_TOKEN,
    BOOTSTRAP_API_KEY: 'a-key-for-tests-only',
    EGRESS_ALLOW_CIDRS: '127.0.0.0/8',
    DISK_FREE_MB_MIN: '0',
    LEASE_SECONDS: '2',
    DRAIN_SECONDS: '3',
    JOBS_MAX: '4',
  }
}

const brokerUrl = ({ port }: TcpProxy): string => `nats://${NATS_TOKEN}@127.0.0.1:${port}`

const superviseWith =
  (world: World, history: History) => (name: string, start: () => Promise<RunningProcess>) => {
    const supervised: SupervisedProcess = new SupervisedProcess({
      name,
      start,
      mayEnd: (code) => code === 1 && supervised.state === 'starting' && world.fullDisks > 0,
      onDeath: (death) => void history.deaths.push(`${death}\n${supervised.log().slice(-2_000)}`),
    })
    return supervised
  }

async function launch(
  program: string,
  history: History,
  environment: Environment,
): Promise<RunningProcess> {
  const { child, ready, ended, log } = launchProgram(program, environment)
  void ended.then(() => {
    const leaks = linesWithSecrets(log(), environment.DATA_DIR ?? '', environment)
    history.surprises.push(...leaks.map((line) => `a secret in a log: ${line}`))
  })
  return { pid: child.pid!, ready, ended, log }
}

/** Retries until the broker starts, because its disk may be full. */
async function startBroker(folder: string, port: number): Promise<RunningProcess> {
  for (;;) {
    try {
      const { process } = await startNatsServer({ folder, port, token: NATS_TOKEN })
      const ended = once(process, 'exit').then(
        ([code, signal]) => (signal ?? code) as number | string,
      )
      const log = join(folder, 'nats.log')
      let text = ''
      void ended.then(async () => (text = await readFile(log, 'utf8').catch(() => '')))
      return { pid: process.pid!, ready: Promise.resolve(), ended, log: () => text }
    } catch {
      await sleep(BROKER_RETRY_MS)
    }
  }
}
