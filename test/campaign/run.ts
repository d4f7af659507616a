/**
 * A campaign: real processes, clients that never pause, and seeded faults. After the last fault every
 * request must end; then the checker reads what clients and receivers saw.
 */

import { execFileSync } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { violationsOf } from './checker.ts'
import { Clients } from './clients.ts'
import { FAULTS, possibleKinds, type Scene } from './faults.ts'
import { isEnd, newHistory, type AccountAtTheEnd, type History } from './history.ts'
import type { TestContext } from 'node:test'
import { seededRandom } from '../support/basics/random.ts'
import { planFaults, type PlannedFault } from './plan.ts'
import { startReceivers } from './receivers.ts'
import { summaryOf, type Summary } from './summary.ts'
import { Service, type Account } from './service.ts'
import { startWorld, type World } from './world.ts'

export interface CampaignOptions {
  seed: number
  faults: number
  database: 'sqlite' | 'postgres'
  gateways: number
  /** Milliseconds between two faults; the plan has a default. */
  everyMs?: number | undefined
  /** Called about once a second. */
  onProgress?: (line: string) => void
}

const ENGINES = 2
const RECEIVERS = 4
const ASKS_PER_SECOND = 1
const PAID_SECONDS = 1_000_000
/** How long clients keep submitting after the last fault. */
const CALM_MS = 3_000
/** Limit for everything to end after that: an engine retries a job's events for ten minutes. */
const REST_MS_MAX = 12 * 60_000
const AUDIT_EVERY_MS = 1_000

/**
 * Runs a campaign. The summary lists the violations and, if there are any, the folder of the logs.
 * @param scope ends the processes; if it ends early, so does the campaign
 */
export async function runCampaign(scope: Scope, options: CampaignOptions): Promise<Summary> {
  const startedAt = performance.now()
  const now = () => performance.now() - startedAt
  const history = newHistory()
  const minutes = (options.faults * (options.everyMs ?? 0)) / 60_000
  const world = await startWorld(scope, { ...options, engines: ENGINES, minutes, history })
  const scene = await startScene(scope, world, { ...options, history, now })
  const stopReporting = reportProgress(scene, options, now)
  let isOver = false
  scope.after(async () => {
    if (!isOver) options.onProgress?.(`cut off; logs in ${await keepLogs(scene, options.seed)}`)
  })
  try {
    await makeFaults(scene, options, now)
    const accounts = await comeToRest(scene, now)
    isOver = true
    const violations = violationsOf(history, accounts)
    const logs = violations.length > 0 ? await keepLogs(scene, options.seed) : undefined
    const seconds = now() / 1_000
    return summaryOf(history, { ...options, commit: commit(), violations, seconds, logs })
  } finally {
    stopReporting()
    scene.service.over.abort(new Error('the campaign is over'))
  }
}

type Scope = Pick<TestContext, 'after'>

interface SceneOptions extends CampaignOptions {
  history: History
  now: () => number
}

async function startScene(
  scope: Scope,
  world: World,
  { seed, history, now }: SceneOptions,
): Promise<Scene> {
  const service = new Service(world.url, world.adminToken)
  const accounts: Account[] = []
  for (const name of ['free', 'paid', 'poor']) {
    accounts.push(await service.createAccount(name, name !== 'free'))
  }
  await service.credit(accounts[1]!, PAID_SECONDS, 'at the start')
  const receivers = await startReceivers(scope, RECEIVERS, { webhooks: history.webhooks, now })
  const random = seededRandom(seed + 1)
  const clients = new Clients({ service, accounts, receivers, history, now, random })
  return { world, service, clients, accounts, receivers, history }
}

/** Starts each fault at its time, even if earlier ones are still in progress; resolves when all are over. */
async function makeFaults(
  scene: Scene,
  options: CampaignOptions,
  now: () => number,
): Promise<void> {
  const { clients, history, world } = scene
  const plan = planFaults(options, possibleKinds(world))
  const make = async (planned: PlannedFault) => {
    const beganAt = now()
    const target = await FAULTS[planned.kind](scene, planned)
    history.faults.push({ kind: planned.kind, target, beganAt, endedAt: now() })
  }
  clients.start(ASKS_PER_SECOND)
  const running: Promise<void>[] = []
  for (const planned of plan) {
    await sleep(planned.afterMs)
    running.push(make(planned))
  }
  await Promise.all(running)
  await sleep(CALM_MS)
  clients.stop()
}

/** Resolves when every request has ended and its webhook has arrived, or at the deadline. */
async function comeToRest(scene: Scene, now: () => number): Promise<AccountAtTheEnd[]> {
  const { clients, service, history } = scene
  const deadline = now() + REST_MS_MAX
  const idle = clients.idle().then(() => 'idle')
  const waiting = new AbortController()
  const late = sleep(REST_MS_MAX, 'late', waiting).catch(() => 'late')
  const isIdle = (await Promise.race([idle, late])) === 'idle'
  waiting.abort() // otherwise the timer would keep the process alive
  if (!isIdle) history.surprises.push(`${clients.open} clients still wait for an answer or an end`)
  const redelivered = new Set<string>()
  for (;;) {
    const accounts = await Promise.all(scene.accounts.map((account) => service.audit(account)))
    const unfinished = accounts.flatMap(({ requests }) => requests).filter((r) => !isEnd(r.status))
    const undelivered = await redeliver(scene, accounts, redelivered)
    if ((unfinished.length === 0 && undelivered === 0) || now() > deadline) return accounts
    await sleep(AUDIT_EVERY_MS)
  }
}

/**
 * Requests redelivery, once, of each webhook that no receiver has accepted: the service would retry
 * it too, but hours later. Returns how many have not arrived yet.
 */
async function redeliver(
  { service, history, ...scene }: Scene,
  accounts: readonly AccountAtTheEnd[],
  redelivered: Set<string>,
): Promise<number> {
  const settled = new Set(
    history.webhooks
      .filter(({ answered }) => answered === 204 || answered === 410)
      .map(({ requestId }) => requestId),
  )
  let undelivered = 0
  for (const { name, requests } of accounts) {
    const account = scene.accounts.find((each) => each.name === name)!
    for (const { requestId, number, delivery } of requests) {
      if (!history.asks[number]?.hasWebhook || settled.has(requestId)) continue
      undelivered += 1
      if (delivery === 'delivered' || redelivered.has(requestId)) continue
      redelivered.add(requestId)
      await service.persistently(account, (client) => client.redeliver(requestId))
    }
  }
  return undelivered
}

function reportProgress(
  { history, clients }: Scene,
  options: CampaignOptions,
  now: () => number,
): () => void {
  let reported = 0
  const timer = setInterval(() => {
    const wrong = [...history.deaths, ...history.surprises]
    for (const what of wrong.slice(reported)) options.onProgress?.(`wrong: ${what}`)
    reported = wrong.length
    const minutes = Math.floor(now() / 60_000)
    const seconds = String(Math.floor(now() / 1_000) % 60).padStart(2, '0')
    options.onProgress?.(
      `${minutes}:${seconds} · ${history.faults.length} of ${options.faults} faults · ` +
        `${history.asks.length} requests, ${clients.open} open · ${history.webhooks.length} webhooks · ` +
        `${history.deaths.length + history.surprises.length} wrong`,
    )
  }, 1_000)
  return () => clearInterval(timer)
}

/** Writes the logs of all processes and the history to a folder that outlives the campaign. */
async function keepLogs({ world, history }: Scene, seed: number): Promise<string> {
  const folder = join(tmpdir(), `winnow-campaign-${seed}-${Date.now()}`)
  await mkdir(folder)
  const { broker, gateways, engines } = world.processes
  for (const process of [broker, ...gateways, ...engines]) {
    await writeFile(join(folder, `${process.name}.log`), process.log())
  }
  await writeFile(join(folder, 'history.json'), JSON.stringify(history, null, 1))
  return folder
}

const commit = (): string => {
  try {
    return execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim()
  } catch {
    return 'unknown' // not a checkout
  }
}
