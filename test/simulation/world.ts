/**
 * A whole service in one process, in simulated time: gateways, broker, engines, clients, receivers.
 * A run has three phases: the plan, with faults; rest, in which everything open must end; and aging, in
 * which everything stored must expire.
 */

import type { FileRow, RequestRow } from '../../gateway/store/schema/tables.ts'
import type { Clock } from '../../shared/clock.ts'
import { isoTime } from '../../shared/clock.ts'
import { MemoryJetStream } from './broker.ts'
import { Calls } from './calls.ts'
import { Choices, hashOf, mix, type Rates } from './choices.ts'
import { Clients } from './clients.ts'
import { DatabaseServer } from './database.ts'
import { startEngine, type SimulatedEngine } from './engine.ts'
import { RATE, type MediaAnswer, type SourceFacts } from './engine-media.ts'
import { startGateway, type SimulatedGateway } from './gateway.ts'
import { Invariants } from './invariants.ts'
import { silentLog } from './log.ts'
import { MediaDisk, MEDIA_URL } from './media.ts'
import { ACCOUNTS, CREDITS } from './plan.ts'
import { Receivers } from './receiver.ts'
import { Process, Scheduler } from './scheduler.ts'
import { NO_MODELS } from '../support/no-models.ts'

const START = Date.parse('2026-01-02T03:04:05.678Z')
export const GATEWAYS = ['gateway-1', 'gateway-2'] as const
export const ENGINES = ['engine-1', 'engine-2'] as const
/** Time until a dead process starts again. */
const AWAY_MS = [500, 20_000] as const

interface RunningPart<T> {
  owner: Process
  part: T
}

export interface WorldOptions {
  seed: number
  rates: Rates
  only: ReadonlySet<string> | null
  database: Buffer
  /** Called with each line of the history. */
  tell?: ((line: string) => void) | undefined
}

export class World {
  readonly scheduler: Scheduler
  readonly choices: Choices
  readonly calls: Calls
  readonly database: DatabaseServer
  readonly disk: MediaDisk
  readonly broker: MemoryJetStream
  readonly receivers: Receivers
  readonly clients: Clients
  readonly invariants: Invariants
  readonly gateways = new Map<string, RunningPart<SimulatedGateway>>()
  readonly engines = new Map<string, RunningPart<SimulatedEngine>>()
  /** Hash of all events so far. */
  hash = 0
  /** Factor by which the pauses of polls are stretched. */
  lateness = 1
  readonly #seed: number
  readonly #tell: WorldOptions['tell']
  /** Total milliseconds by which the wall clocks have jumped. */
  #jumped = 0
  #latest = START
  #faultsSaid = 0
  /** Whether engines that end stay down. */
  #areEnginesOver = false

  constructor({ seed, rates, only, database, tell }: WorldOptions) {
    this.#seed = seed
    this.scheduler = new Scheduler(seed)
    this.choices = new Choices(seed, rates, only)
    this.calls = new Calls(this.scheduler, this.choices)
    this.database = new DatabaseServer(database, this.calls)
    this.disk = new MediaDisk(this.calls, this.wallClock)
    this.broker = new MemoryJetStream(this.calls)
    this.receivers = new Receivers(this.calls)
    this.clients = new Clients(this.calls, () => this.#frontDoor(), this.wallClock)
    const { clients, disk } = this
    const [latest, factsOf] = [() => this.#latest, (row: RequestRow) => this.#factsOfRow(row)]
    this.#tell = tell
    this.#addAccounts()
    this.invariants = new Invariants({ database: this.database, disk, clients, latest, factsOf })
    for (const account of Object.keys(CREDITS)) this.invariants.credits.add(`start ${account}`)
    this.broker.onEarlyAck = (job) => this.#guard(() => this.invariants.checkAck(job.request_id))
    this.broker.onEventAck = (event) => this.#guard(() => this.invariants.checkApplied(event))
    this.disk.onRemove = (key) => this.#guard(() => this.invariants.checkRemoval(key))
  }

  /** Returns the epoch milliseconds that every clock shows. */
  wallClock = (): number => {
    const now = START + Math.floor(this.scheduler.now) + this.#jumped
    this.#latest = Math.max(this.#latest, now)
    return now
  }

  jump(ms: number): void {
    this.#jumped += ms
  }

  start(): void {
    for (const name of GATEWAYS) this.#startGateway(name, 0)
    for (const name of ENGINES) this.#startEngine(name, 0)
  }

  /** Runs one event and checks what it changed; returns false if there was none. */
  async step(): Promise<boolean> {
    const event = await this.scheduler.step()
    if (!event) return false
    this.hash = mix(hashOf(event.label, this.hash), Math.round(event.at * 1_000))
    this.#guard(() => {
      for (const change of this.invariants.check()) {
        const { kind, id, before, after } = change
        this.hash = hashOf(`${kind} ${id} ${before} ${after}`, this.hash)
        if (kind === 'new' || (kind === 'move' && before !== after)) {
          this.say(`${id} is ${after}`)
        }
      }
    })
    if (this.#tell) this.#sayFaults()
    if (this.scheduler.violation) throw this.scheduler.violation
    return true
  }

  /** Adds a line to the history. */
  say(line: string): void {
    this.#tell?.(`${(this.scheduler.now / 1_000).toFixed(3).padStart(9)} s  ${line}`)
  }

  runningOf(name: string): RunningPart<SimulatedGateway | SimulatedEngine> {
    return (this.gateways.get(name) ?? this.engines.get(name))!
  }

  /** Stops a process gracefully; it starts again after a while. */
  async restart(name: string): Promise<void> {
    const { owner, part } = this.runningOf(name)
    if (!owner.alive) return
    await new Promise<void>((resolve) => {
      owner.onDeath(resolve)
      this.scheduler.schedule(owner, 0, `${name} stops`, () => {
        const stopped = 'drain' in part ? part.drain(5_000) : part.stop()
        void stopped.finally(() => owner.kill())
      })
    })
  }

  /** Stops all faults and brings back whatever is away. */
  heal(): void {
    this.choices.calm()
    this.receivers.allWork()
    this.database.away = false
    this.disk.away = false
    this.broker.back()
    this.lateness = 30
  }

  /** Kills the engines for good: they have nothing left to do. */
  endEngines(): void {
    this.#areEnginesOver = true
    for (const { owner } of this.engines.values()) owner.kill()
    this.engines.clear()
  }

  /** Returns counts of what is still held; empty once everything has ended. */
  held(): Record<string, number> {
    const held: Record<string, number> = {
      'jobs at the broker': this.broker.jobs.size,
      'events at the broker': this.broker.events.size,
      'dead letters': this.broker.letters,
      'actions of clients': this.clients.underWay,
      'staged media': this.disk.staged.size,
      'unfinished requests': this.count('requests', 'finished_at is null'),
      'rows of the outbox': this.count('outbox', '1'),
      deliveries: this.count('deliveries', `state in ('pending', 'sending')`),
    }
    for (const [name, { part }] of this.engines) {
      for (const [what, count] of Object.entries(part.held())) held[`${what} of ${name}`] = count
    }
    return Object.fromEntries(Object.entries(held).filter(([, count]) => count > 0))
  }

  count(table: string, where: string): number {
    const sql = `select count(*) as n from ${table} where ${where}`
    return (this.database.statement(sql).get() as { n: number }).n
  }

  #guard(check: () => void): void {
    try {
      check()
    } catch (error) {
      this.scheduler.report(error as Error)
    }
  }

  #sayFaults(): void {
    const { faults } = this.choices
    for (; this.#faultsSaid < faults.length; this.#faultsSaid += 1) {
      this.say(`FAULT ${faults[this.#faultsSaid]}`)
    }
  }

  #addAccounts(): void {
    const { raw } = this.database
    const at = isoTime(START)
    for (const id of ACCOUNTS) {
      const credits = CREDITS[id]
      raw
        .prepare(
          'insert into accounts (account_id, name, created_at, metered, balance_seconds, ' +
            'reserved_seconds) values (?, ?, ?, ?, ?, ?)',
        )
        .run(id, id, at, credits === undefined ? 0 : 1, credits ?? 0, 0)
      if (credits === undefined) continue
      raw
        .prepare('insert into ledger values (?, ?, ?, ?, ?, ?)')
        .run(`start ${id}`, 'credit', id, credits, 0, at)
    }
  }

  #frontDoor() {
    const open = [...this.gateways.values()].filter(({ owner }) => owner.alive)
    if (open.length === 0) return undefined
    const { owner, part } = this.choices.pick('front door', open)
    return { owner, gateway: part }
  }

  /** Creates a process of that name; calls `again` some time after it has died. */
  #newProcess(name: string, starts: number, again: () => void): Process {
    const owner = new Process(starts === 0 ? name : `${name}.${starts}`)
    owner.onDeath(() => {
      this.say(`${owner.name} is gone`)
      const ms = this.choices.between(`${name} away`, ...AWAY_MS)
      this.scheduler.schedule(this.scheduler.world, ms, `${name} starts`, again)
    })
    return owner
  }

  #startGateway(name: string, starts: number): void {
    const owner = this.#newProcess(name, starts, () => this.#startGateway(name, starts + 1))
    const { calls } = this
    this.#as(owner, () => {
      const part = startGateway({
        store: this.database.connect(owner),
        broker: this.broker.connect(owner),
        mediaStore: this.disk.connect(owner),
        post: this.receivers.connect(owner),
        connectEngine: (address) => ({
          ...NO_MODELS,
          describe: () => Promise.reject(new Error('not simulated')),
          stats: () => Promise.reject(new Error('not simulated')),
          cancel: (requestId) => this.#cancelAt(owner, address, requestId),
          close: () => undefined,
        }),
        checkUrl: () => calls.toWorld(owner, 'check url', () => undefined),
        clock: this.#clock,
        log: this.#logOf(owner),
      })
      this.gateways.set(name, { owner, part })
    })
  }

  #startEngine(name: string, starts: number): void {
    if (this.#areEnginesOver) return
    const owner = this.#newProcess(name, starts, () => this.#startEngine(name, starts + 1))
    this.#as(owner, () => {
      const part = startEngine({
        owner,
        calls: this.calls,
        broker: this.broker.connect(owner),
        exchange: (method, url, headers) => this.#exchange(owner, method, url, headers),
        factsOf: (url) => this.#factsOfUrl(url),
        storeIsAway: () => this.disk.away,
        clock: this.#clock,
        log: this.#logOf(owner),
      })
      this.engines.set(name, { owner, part })
    })
  }

  /** Makes `owner` own everything that `start` begins. */
  #as(owner: Process, start: () => void): void {
    const before = this.scheduler.current
    this.scheduler.current = owner
    start()
    this.scheduler.current = before
  }

  #clock: Clock = { now: () => this.wallClock(), elapsed: () => this.scheduler.now }

  #logOf = (owner: Process) =>
    silentLog(this.#tell && ((line) => this.say(`${owner.name}: ${line}`)))

  #cancelAt(caller: Process, address: string, requestId: string): Promise<unknown> {
    const engine = [...this.engines.values()].find(({ owner }) => owner.name === address)
    return this.calls.toProcess(caller, engine?.owner, 'cancel at engine', async () =>
      engine!.part.cancel(requestId),
    )
  }

  /** Sends an engine's request for media to a gateway. */
  async #exchange(
    caller: Process,
    method: 'GET' | 'PUT',
    url: string,
    headers: Record<string, string> = {},
  ): Promise<MediaAnswer> {
    const { pathname, searchParams } = new URL(url)
    const [kind, id, part] = pathname.split('/').slice(2)
    const isInput = kind === 'inputs'
    const route = `${method} /media/${isInput ? 'inputs/:file_id' : 'outputs/:request_id/:part'}`
    const params: Record<string, string> = isInput
      ? { file_id: id! }
      : { request_id: id!, part: part! }
    const query = Object.fromEntries(searchParams)
    const door = this.#frontDoor()
    return this.calls.toProcess(caller, door?.owner, route, () =>
      door!.gateway.call(route, { params, query, headers }),
    )
  }

  #factsOfUrl(url: string): SourceFacts {
    if (!url.startsWith(MEDIA_URL)) return this.#facts(Number(/(\d+)\.wav/.exec(url)![1]))
    const id = new URL(url).pathname.split('/').at(-1)!
    return this.#facts(this.#sizeOf(id) ?? 0)
  }

  #factsOfRow({ file_id: fileId, audio_url: url }: RequestRow): SourceFacts | undefined {
    if (fileId === null) return this.#factsOfUrl(url!)
    const size = this.#sizeOf(fileId)
    return size === undefined ? undefined : this.#facts(size)
  }

  /** Returns the facts of media by number: some is damaged, and some does not state its length. */
  #facts(number: number): SourceFacts {
    const share = (what: number) => mix(mix(this.#seed, number), what) / 2 ** 32
    return {
      seconds: (1 + Math.floor(share(1) * 300)) / RATE,
      isMeasured: share(2) < 0.7,
      isDamaged: share(3) < 0.05,
    }
  }

  #sizeOf(fileId: string): number | undefined {
    const file = this.database
      .statement('select file_size from files where file_id = ?')
      .get(fileId) as Pick<FileRow, 'file_size'> | undefined
    return file?.file_size
  }
}
