/** Runs one simulation from its seed to its end, or to the first violated invariant. */

import { creditAccount } from '../../gateway/accounts/accounts.ts'
import { Choices } from './choices.ts'
import { emptyDatabase } from './database.ts'
import { describeAction, nameOfAction, planOf, ratesOf, type Action, type Plan } from './plan.ts'
import { simulateRuntime } from './runtime.ts'
import { Violation } from './violation.ts'
import { ENGINES, GATEWAYS, World } from './world.ts'

export interface RunOptions {
  seed: number
  /** Maximum number of events with faults; after them everything open must end. */
  steps?: number
  /** Allows only the faults and actions with these names. */
  only?: ReadonlySet<string> | null
  /** Called with each line of the history. */
  tell?: (line: string) => void
}

export interface RunResult {
  seed: number
  violation?: Error
  /** Hash of the run; equal for equal seeds. */
  hash: string
  steps: number
  requests: number
  /** Names of the faults that happened. */
  faults: string[]
  actions: string[]
}

export const STEPS_DEFAULT = 20_000
/** Faults continue until nothing is open, but at most this long after the plan. */
const AFTERMATH_MS = 120_000
/** Limits within which everything must come to rest once faults stop; checked every `every` events. */
const REST = { ms: 8 * 3_600_000, steps: 150_000, every: 50 }
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** Time for a gateway to start and to run each of its sweeps. */
const SWEEP_MS = 85_000

export async function run(options: RunOptions): Promise<RunResult> {
  const { seed, steps = STEPS_DEFAULT, only = null, tell } = options
  const database = await emptyDatabase()
  const rates = ratesOf(new Choices(seed, {}, null))
  const plan = planOf(new Choices(seed, {}, null), [...GATEWAYS, ...ENGINES])
  const actions = plan.actions.filter((action) => !only || only.has(nameOfAction(action)))
  const world = new World({ seed, rates, only, database, tell })
  const { scheduler, wallClock } = world
  const restore = simulateRuntime({ scheduler, wallClock, lateness: () => world.lateness, seed })
  const unhandled = (error: unknown) =>
    scheduler.report(new Violation('no error is left unhandled', String((error as Error)?.stack)))
  process.on('unhandledRejection', unhandled)
  let violation: Error | undefined
  try {
    await live(world, { ...plan, actions }, steps)
  } catch (error) {
    violation = error as Error
  } finally {
    process.off('unhandledRejection', unhandled)
    restore()
    world.database.raw.close()
  }
  return {
    seed,
    ...(violation && { violation }),
    hash: world.hash.toString(16).padStart(8, '0'),
    steps: scheduler.steps,
    requests: world.invariants.requests.size,
    faults: world.choices.faults,
    actions: actions.map(nameOfAction),
  }
}

async function live(world: World, { actions, lengthMs }: Plan, steps: number): Promise<void> {
  const { scheduler } = world
  world.start()
  for (const action of actions) {
    scheduler.schedule(scheduler.world, action.at, nameOfAction(action), () => act(world, action))
  }
  const end = lengthMs + AFTERMATH_MS
  while (scheduler.steps < steps && scheduler.now < end) {
    await world.step()
    const mayBeOver = scheduler.now > lengthMs && scheduler.steps % REST.every === 0
    if (mayBeOver && Object.keys(world.held()).length === 0) break
  }
  world.say('NO MORE FAULTS')
  world.heal()
  await untilRest(world)
  checkDelivered(world)
  await expireEverything(world)
}

function act(world: World, action: Action): void {
  const { scheduler, broker, database, disk, receivers } = world
  world.say(`ACTION ${describeAction(action)}`)
  const during = (part: { away: boolean }, ms: number, back: () => void) => {
    part.away = true
    scheduler.schedule(scheduler.world, ms, 'back', back)
  }
  switch (action.do) {
    case 'submit':
    case 'cancel':
    case 'redeliver':
    case 'read':
      scheduler.current = world.clients.process
      return void world.clients.act(action)
    case 'credit':
      return credit(world, action)
    case 'kill':
      return world.runningOf(action.process).owner.kill()
    case 'restart':
      return void world.restart(action.process)
    case 'broker lost':
      return broker.loseAll()
    case 'broker away':
      return during(broker, action.ms, () => broker.back())
    case 'database away':
      return during(database, action.ms, () => (database.away = false))
    case 'disk away':
      return during(disk, action.ms, () => (disk.away = false))
    case 'clock jumps':
      return world.jump(action.ms)
    case 'receiver answers':
      receivers.answer(action.account, action.status)
      scheduler.schedule(scheduler.world, action.ms, 'receiver works', () =>
        receivers.answer(action.account, undefined),
      )
  }
}

const AUTHOR = { tool: 'admin_api', origin: 'simulation' } as const

function credit(world: World, { id, account, seconds }: Extract<Action, { do: 'credit' }>): void {
  const [running] = [...world.gateways.values()].filter(({ owner }) => owner.alive)
  if (!running) return
  const reference = `credit ${id}`
  world.invariants.credits.add(reference)
  world.scheduler.schedule(running.owner, 1, 'credit', () => {
    creditAccount({ ...running.part.deps, author: AUTHOR }, account, { seconds, reference }).catch(
      () => undefined,
    )
  })
}

/** Runs until everything open has ended, now that nothing fails any more. */
async function untilRest(world: World): Promise<void> {
  const { scheduler } = world
  const [endAt, endStep] = [scheduler.now + REST.ms, scheduler.steps + REST.steps]
  for (;;) {
    for (let i = 0; i < REST.every; i += 1) await world.step()
    const held = world.held()
    const names = Object.keys(held)
    if (names.length === 0) return
    if (names.length === 1 && names[0] === 'deliveries') jumpToNextAttempt(world)
    if (scheduler.now < endAt && scheduler.steps < endStep) continue
    throw new Violation('everything that is open ends', JSON.stringify(held))
  }
}

/** Moves the clock to the next delivery attempt, because webhooks are retried for days. */
function jumpToNextAttempt(world: World): void {
  const { next } = world.database
    .statement(
      `select min(next_attempt_at) as next from deliveries where next_attempt_at is not null`,
    )
    .get() as { next: string }
  world.jump(Math.max(0, Date.parse(next) - world.wallClock()))
}

/** Checks that each acknowledged submit has a request, and that its receiver got the webhook. */
function checkDelivered({ clients, database, receivers }: World): void {
  for (const [action, id] of clients.acknowledged) {
    const row = database.statement('select * from requests where request_id = ?').get(id) as
      { status: string; webhook_url: string | null } | undefined
    if (!row) throw new Violation('an acknowledged submit exists', `action ${action}: ${id}`)
    if (row.webhook_url === null || receivers.refused.has(id)) continue
    const delivery = database
      .statement('select * from deliveries where request_id = ?')
      .get(id) as { state: string }
    if (!receivers.told.has(id)) {
      const detail = `${id} is ${row.status}, its webhook ${delivery.state}`
      throw new Violation('every end is told', detail)
    }
  }
}

/** Lets files and results expire, then records; checks that nothing is left. */
async function expireEverything(world: World): Promise<void> {
  world.endEngines()
  world.lateness = 60
  for (const ms of [25 * HOUR_MS, 8 * DAY_MS, 31 * DAY_MS, DAY_MS]) {
    world.jump(ms)
    world.runningOf('gateway-1').owner.kill() // a gateway searches for orphans when it starts
    const end = world.scheduler.now + SWEEP_MS
    while (world.scheduler.now < end && (await world.step()));
  }
  const leftovers: Record<string, number> = { media: world.disk.stored.size, ...world.held() }
  const tables = ['requests', 'request_logs', 'deliveries', 'idempotency_keys', 'files']
  for (const table of [...tables, 'outbox', 'media_removals'])
    leftovers[table] = world.count(table, '1')
  const names = Object.keys(leftovers).filter((name) => leftovers[name]! > 0)
  if (names.length === 0) return
  throw new Violation(
    'nothing is left over',
    names.map((name) => `${name}: ${leftovers[name]}`).join(),
  )
}
