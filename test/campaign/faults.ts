/** Injects each kind of fault. */

import { setTimeout as sleep } from 'node:timers/promises'
import type { Clients } from './clients.ts'
import type { History } from './history.ts'
import { KINDS, type Kind, type PlannedFault } from './plan.ts'
import { repair, type Answer, type Receiver } from './receivers.ts'
import type { Account, Service } from './service.ts'
import type { SupervisedProcess } from './supervised.ts'
import type { World } from './world.ts'

export interface Scene {
  world: World
  service: Service
  clients: Clients
  accounts: readonly Account[]
  receivers: readonly Receiver[]
  history: History
}

/** Injects one fault; resolves when it is over, with its target. */
type Fault = (scene: Scene, planned: PlannedFault) => Promise<string>

const JUMPS_MS = [-3_000, 60_000, 1_200_000, 3_600_000]
const SLOW_MS = 4_000
const DELAY_MS_MAX = 400
const CREDITS = 3

const processKilled: Fault = ({ world }, planned) =>
  onProcess(world, planned, async (process) => {
    await process.end('SIGKILL')
    return process.name
  })

const processRestarted: Fault = ({ world, history }, planned) =>
  onProcess(world, planned, async (process) => {
    const code = await process.end('SIGTERM')
    const isOurs = process !== world.processes.broker
    if (isOurs && code !== 0) {
      const log = process.log().slice(-2_000)
      history.deaths.push(`${process.name} ended with ${code} at SIGTERM\n${log}`)
    }
    return process.name
  })

const processFrozen: Fault = ({ world }, planned) =>
  onProcess(world, planned, async (process) => {
    process.freeze()
    await sleep(planned.lastsMs)
    process.thaw()
    return process.name
  })

const connectionsDelayed: Fault = async ({ world }, planned) => {
  const [name, proxy] = pick(Object.entries(world.proxies), planned.which)
  proxy.delay(Math.ceil(DELAY_MS_MAX * planned.how))
  await sleep(planned.lastsMs)
  proxy.delay(0)
  return name
}

const connectionsCut: Fault = async ({ world }, planned) => {
  const [name, proxy] = pick(Object.entries(world.proxies), planned.which)
  proxy.cut()
  await sleep(planned.lastsMs)
  proxy.accept()
  return name
}

const connectionsHeld: Fault = async ({ world }, planned) => {
  const [name, proxy] = pick(Object.entries(world.proxies), planned.which)
  proxy.hold()
  await sleep(planned.lastsMs)
  proxy.release()
  return name
}

const connectionsHalfOpened: Fault = async ({ world }, planned) => {
  const [name, proxy] = pick(Object.entries(world.proxies), planned.which)
  const closed = planned.how < 0.5 ? 'client' : 'server'
  proxy.halfOpen(closed)
  return `${name}, closed at the ${closed}`
}

const brokerStoreDeleted: Fault = async ({ world }) => {
  const { broker } = world.processes
  await broker.whenUp(() => broker.end('SIGKILL', () => world.deleteBrokerStore()))
  return broker.name
}

const diskFull: Fault = async ({ world }, planned) => {
  const [name, disk] = pick(Object.entries(world.disks), planned.which)
  world.fullDisks += 1
  await disk.fill()
  await sleep(planned.lastsMs)
  await disk.free()
  if (name === 'broker') await restartBroker(world)
  setTimeout(() => (world.fullDisks -= 1), START_MS_MAX) // for processes that were starting while it was full
  return name
}

/** How long a process that starts may take to find its disk full. */
const START_MS_MAX = 15_000

/** A broker whose disk was full stores nothing until it restarts, as the documents say. */
async function restartBroker({ processes: { broker } }: World): Promise<void> {
  await broker.whenUp(() => broker.end('SIGTERM'))
}

/** Waits for the previous one: only one at a time. */
const databaseKilled: Fault = async ({ world }, planned) => {
  const killed = world.databaseFaults.then(async () => {
    await world.postgres!.stop(planned.how < 0.5 ? 'SIGQUIT' : 'SIGINT')
    await sleep(planned.lastsMs / 2)
    await world.postgres!.start()
  })
  world.databaseFaults = killed
  await killed
  return 'postgres'
}

const clockJumps: Fault = async ({ world: { clock } }, planned) => {
  const ms = pick(JUMPS_MS, planned.how)
  clock!.jump(ms)
  return `${ms / 1_000} s`
}

const receiverAnswers =
  (answer: Answer): Fault =>
  async (scene, planned) => {
    const receiver = pick(scene.receivers, planned.which)
    receiver.answer = answer
    await sleep(planned.lastsMs)
    repair(receiver)
    return receiver.url
  }

const uploadBrokenOff: Fault = async ({ clients, accounts }, planned) => {
  clients.ask({ account: pick(accounts, planned.which), breaksOff: true })
  return 'a client'
}

const keyRevoked: Fault = async ({ service, accounts, history }, planned) => {
  const account = pick(accounts, planned.which)
  const old = account.key
  account.key = await service.createKey(account.id)
  await service.revokeKey(old.id)
  const status = await service.statusWith(old.secret)
  if (status !== 401) history.revokedKeysUsed.push(`GET /v1/account answered ${status}`)
  return account.name
}

const requestCanceled: Fault = async ({ clients, accounts }, planned) => {
  const cancelAfterMs = Math.round(500 * planned.how)
  clients.ask({ account: pick(accounts, planned.which), cancelAfterMs })
  return 'a client'
}

/** Submits more than the account has been credited. */
const creditsRunOut: Fault = async ({ service, clients, accounts }, planned) => {
  const account = accounts.find(({ name }) => name === 'poor')!
  await service.credit(account, CREDITS, `credit ${planned.number}`)
  for (let i = 0; i <= CREDITS; i += 1) clients.ask({ account })
  return account.name
}

export const FAULTS: Readonly<Record<Kind, Fault>> = {
  'process killed': processKilled,
  'process restarted': processRestarted,
  'process frozen': processFrozen,
  'connections delayed': connectionsDelayed,
  'connections cut': connectionsCut,
  'connections held': connectionsHeld,
  'connections half-opened': connectionsHalfOpened,
  'broker store deleted': brokerStoreDeleted,
  'disk full': diskFull,
  'database killed': databaseKilled,
  'clock jumps': clockJumps,
  'receiver hangs': receiverAnswers('none'),
  'receiver answers 500': receiverAnswers({ status: 500 }),
  'receiver answers 410': receiverAnswers({ status: 410 }),
  'receiver is slow': receiverAnswers({ status: 204, afterMs: SLOW_MS }),
  'upload broken off': uploadBrokenOff,
  'key revoked': keyRevoked,
  'request canceled': requestCanceled,
  'credits run out': creditsRunOut,
}

/** Faults of clients and receivers, from which the service has nothing to recover. */
export const IS_OUTSIDE = /^(receiver|upload|key|request|credits)/

/** Returns the kinds of faults that this world supports. */
export function possibleKinds({ disks, clock, postgres }: World): Kind[] {
  const missing = new Set<Kind>([
    ...(Object.keys(disks).length === 0 ? (['disk full'] as const) : []),
    ...(clock ? [] : (['clock jumps'] as const)),
    ...(postgres ? [] : (['database killed'] as const)),
  ])
  return (Object.keys(KINDS) as Kind[]).filter((kind) => !missing.has(kind))
}

const pick = <T>(items: readonly T[], share: number): T => items[Math.floor(share * items.length)]!

/**
 * Calls `act` with a process that is up, or with the next one to come up. Waits while more than one
 * is down, because on a slow machine they would otherwise never all be up.
 */
async function onProcess<T>(
  { processes: { broker, gateways, engines } }: World,
  { which }: PlannedFault,
  act: (process: SupervisedProcess) => Promise<T>,
): Promise<T> {
  const all = [broker, ...gateways, ...engines]
  const first = Math.floor(which * all.length)
  const order = [...all.slice(first), ...all.slice(0, first)]
  for (;;) {
    const up = order.filter(({ state }) => state === 'up')
    if (up.length >= all.length - 1) return act(up[0]!)
    await Promise.race(order.filter((each) => !up.includes(each)).map((each) => each.untilUp()))
  }
}
