/**
 * Keeps track of engines, which announce themselves and are called over gRPC. Whoever can announce
 * one engine can announce thousands, so their number is bounded. Those that have not answered yet
 * are called a few at a time, and give way to others when they fail.
 */

import type { Clock } from '../../shared/clock.ts'
import type {
  EngineClient as ControlClient,
  EngineDescription,
  EngineStats,
} from '../../shared/engine-control.ts'
import type { Logger } from '../../shared/telemetry/log.ts'
import type { EngineAnnouncement } from '../../shared/messages.ts'

export type ModelClient = Pick<
  ControlClient,
  | 'listModels'
  | 'listCatalogue'
  | 'fetchModel'
  | 'loadModel'
  | 'unloadModel'
  | 'removeModel'
  | 'drain'
>

export interface EngineClient extends ModelClient {
  describe(): Promise<EngineDescription>
  stats(): Promise<EngineStats>
  cancel(requestId: string): Promise<unknown>
  close(): void
}

/** An engine's description is reused for this long, however many clients ask for it. */
const DESCRIBED_MS_MAX = 10_000
/** An engine whose models keep changing is asked no more often than this. */
const ASKED_EVERY_MS = 1_000
/** An engine that has not announced itself for this long is gone. */
const SILENCE_MS_MAX = 15_000
export const ENGINES_MAX = 1_000
/** How many engines that have not answered before are asked concurrently. */
export const FIRST_CALLS_MAX = 8
/** If all places are taken, silent engines are looked for no more often than this. */
const SEARCH_EVERY_MS = 1_000
/** Warnings about engines are no more frequent than this. */
const WARN_EVERY_MS = 1_000

interface Member {
  engineId: string
  address: string
  /** By `clock.elapsed`. */
  announcedAt: number
  /**
   * If the next announcement has another version, the models have changed, and the engine is asked
   * again at once.
   */
  modelsVersion: number
  /** Made for the first call; removed if the engine does not answer. */
  client?: Promise<EngineClient> | undefined
  /** The outcome of the last call for its description. */
  state: 'new' | 'answers' | 'fails'
  /** The last call for its description, which is undefined if the engine gave none. */
  described?: { at: number; description: Promise<EngineDescription | undefined> }
  last?: EngineDescription
}

export interface EngineAnswer<T> {
  engineId: string
  answer: PromiseSettledResult<T>
}

interface EngineRegistryOptions {
  /** @throws Error if the address must not be called */
  connect: (address: string) => EngineClient | Promise<EngineClient>
  clock: Clock
  log: Logger
}

export class EngineRegistry {
  readonly #members = new Map<string, Member>()
  /** Calls in progress to members that have not answered before. */
  readonly #firstCalls = new Set<Promise<unknown>>()
  readonly #options: EngineRegistryOptions
  /** Members that were asked and have never answered. Others may take their places. */
  readonly #useless = new Set<Member>()
  #warnedAt = -Infinity
  #searchedAt = -Infinity

  constructor(options: EngineRegistryOptions) {
    this.#options = options
  }

  /** Records that an engine exists, and its address. An engine that answers keeps its address. */
  announced({
    engine_id: engineId,
    control_address: address,
    models_version: modelsVersion = 0,
  }: EngineAnnouncement): void {
    const announcedAt = this.#options.clock.elapsed()
    const member = this.#members.get(engineId)
    if (member?.address === address) {
      member.announcedAt = announcedAt
      if (member.modelsVersion !== modelsVersion) this.#modelsChanged(member, modelsVersion)
      return
    }
    if (member && this.#keepsAddress(member)) return
    if (member) this.#drop(member)
    else if (!this.#makeRoom()) return
    this.#members.set(engineId, { engineId, address, announcedAt, modelsVersion, state: 'new' })
  }

  /** How many engines have announced themselves lately. */
  get engines(): number {
    this.#dropSilent()
    return this.#members.size
  }

  /** Returns the descriptions of all engines that answer. */
  async describe(): Promise<EngineDescription[]> {
    return (await this.#described()).map(({ description }) => description)
  }

  /**
   * Returns the last descriptions without waiting. Engines whose description is old are asked
   * again.
   */
  lastDescriptions(): EngineDescription[] {
    void this.describe()
    return [...this.#members.values()].flatMap(({ last }) => last ?? [])
  }

  async survey(): Promise<{ description: EngineDescription; stats: EngineStats }[]> {
    const surveyed = (await this.#described()).map(async ({ member, description }) => {
      const stats = await this.#ask(member, (client) => client.stats())
      return stats && { description, stats }
    })
    return (await Promise.all(surveyed)).filter((answer) => answer !== undefined)
  }

  /**
   * Asks every engine that answers, or only the one that is named.
   * @returns what each has answered, or why it has not
   */
  async askEach<T>(
    ask: (client: EngineClient, engineId: string) => Promise<T>,
    engineId?: string,
  ): Promise<EngineAnswer<T>[]> {
    const engines = (await this.#described())
      .map(({ member }) => member)
      .filter((member) => (engineId ?? member.engineId) === member.engineId)
    const answers = await Promise.allSettled(
      engines.map(async (member) => ask(await this.#clientOf(member), member.engineId)),
    )
    return engines.map((member, i) => ({ engineId: member.engineId, answer: answers[i]! }))
  }

  /**
   * Opens a separate connection to an engine for a long call. The caller closes it.
   * @throws Error if the engine is gone
   */
  async connectTo(engineId: string): Promise<EngineClient> {
    const member = this.#members.get(engineId)
    if (!member) throw new Error(`The engine ${engineId} is gone.`)
    return this.#options.connect(member.address)
  }

  /** Makes an engine stop working on a request. An engine that is gone is skipped. */
  async cancel(engineId: string, requestId: string): Promise<void> {
    this.#dropSilent()
    const member = this.#members.get(engineId)
    if (member) await this.#ask(member, (client) => client.cancel(requestId), { requestId })
  }

  close(): void {
    for (const member of this.#members.values()) this.#drop(member)
  }

  /** Asks all engines that answered before, and as many of the others as may be asked at once. */
  async #described(): Promise<{ member: Member; description: EngineDescription }[]> {
    this.#dropSilent()
    this.#beginFirstCalls()
    const proven = [...this.#members.values()].filter(({ state }) => state === 'answers')
    await Promise.all([...this.#firstCalls, ...proven.map((member) => this.#describeOne(member))])
    return [...this.#members.values()].flatMap((member) =>
      member.state === 'answers' && member.last ? { member, description: member.last } : [],
    )
  }

  /** Asks some of the engines that do not answer yet. The others follow as these calls end. */
  #beginFirstCalls(): void {
    for (const member of this.#members.values()) {
      if (this.#firstCalls.size >= FIRST_CALLS_MAX) return
      if (member.state === 'answers' || !this.#isDue(member)) continue
      const call = this.#describeOne(member).finally(() => {
        this.#firstCalls.delete(call)
        this.#beginFirstCalls()
      })
      this.#firstCalls.add(call)
    }
  }

  #isDue({ described }: Member): boolean {
    return !described || this.#options.clock.elapsed() - described.at >= DESCRIBED_MS_MAX
  }

  #describeOne(member: Member): Promise<EngineDescription | undefined> {
    if (!member.described || this.#isDue(member)) {
      const description = this.#askWhatItIs(member)
      member.described = { at: this.#options.clock.elapsed(), description }
    }
    return member.described.description
  }

  async #askWhatItIs(member: Member): Promise<EngineDescription | undefined> {
    const description = await this.#ask(member, async (client) => {
      const description = await client.describe()
      const { engine_id: engineId } = description
      if (engineId !== member.engineId) throw new Error(`it is ${engineId}`)
      return description
    })
    member.state = description ? 'answers' : 'fails'
    if (description) {
      member.last = description
      this.#useless.delete(member)
      return description
    }
    this.#disconnect(member)
    const isKnown = this.#members.get(member.engineId) === member
    if (isKnown && member.last === undefined) this.#useless.add(member)
    return undefined
  }

  /**
   * Calls an engine. Resolves like `ask`, or with undefined if the engine cannot be called or does
   * not answer.
   */
  async #ask<T>(
    member: Member,
    ask: (client: EngineClient) => Promise<T>,
    about: object = {},
  ): Promise<T | undefined> {
    const { engineId, address } = member
    try {
      return await ask(await this.#clientOf(member))
    } catch (error) {
      this.#warn({ err: error, engineId, address, ...about })
      return undefined
    }
  }

  #clientOf(member: Member): Promise<EngineClient> {
    member.client ??= Promise.resolve(member.address).then(this.#options.connect)
    return member.client
  }

  #warn(about: object): void {
    const now = this.#options.clock.elapsed()
    if (now - this.#warnedAt < WARN_EVERY_MS) return
    this.#warnedAt = now
    this.#options.log.warn(about, 'an engine was not reached')
  }

  /**
   * Asks an engine for its description again. If it was asked just now, that waits for its next
   * announcement.
   */
  #modelsChanged(member: Member, modelsVersion: number): void {
    const { described, state } = member
    if (described && this.#options.clock.elapsed() - described.at < ASKED_EVERY_MS) return
    member.modelsVersion = modelsVersion
    delete member.described
    if (state === 'answers') void this.#describeOne(member)
  }

  /** Returns whether an engine keeps its address. Asking it finds out whether it has moved. */
  #keepsAddress(member: Member): boolean {
    if (member.state !== 'answers' || this.#isSilent(member)) return false
    void this.#describeOne(member)
    return true
  }

  /** Returns whether there is room for one more engine. One that never answered gives way. */
  #makeRoom(): boolean {
    if (this.#members.size < ENGINES_MAX) return true
    const now = this.#options.clock.elapsed()
    if (now - this.#searchedAt >= SEARCH_EVERY_MS) {
      this.#searchedAt = now
      this.#dropSilent()
    }
    const [useless] = this.#useless
    if (useless) this.#drop(useless)
    return this.#members.size < ENGINES_MAX
  }

  #isSilent({ announcedAt }: Member): boolean {
    return announcedAt < this.#options.clock.elapsed() - SILENCE_MS_MAX
  }

  #dropSilent(): void {
    for (const member of this.#members.values()) if (this.#isSilent(member)) this.#drop(member)
  }

  #drop(member: Member): void {
    this.#disconnect(member)
    this.#members.delete(member.engineId)
    this.#useless.delete(member)
  }

  #disconnect(member: Member): void {
    member.client?.then(
      (client) => client.close(),
      () => undefined,
    )
    member.client = undefined
  }
}
