/** The engines that are there: discovered by their announcements, called over gRPC. */

import type { Clock } from '../../shared/clock.ts'
import type { EngineDescription, EngineStats } from '../../shared/engine-control.ts'
import type { Logger } from '../../shared/telemetry/log.ts'
import type { EngineAnnouncement } from '../../shared/messages.ts'

/** The calls that the registry makes to an engine. */
export interface EngineClient {
  describe(): Promise<EngineDescription>
  stats(): Promise<EngineStats>
  cancel(requestId: string): Promise<unknown>
  close(): void
}

/** An engine is asked again what it is after so long, however many clients want to know. */
const DESCRIBED_MS_MAX = 10_000
/** An engine without an announcement for so long is gone. */
const SILENCE_MS_MAX = 15_000

interface Member {
  address: string
  /** By `clock.elapsed`. */
  announcedAt: number
  client: EngineClient
  /** Its last answer about itself; undefined when it gave none. */
  described?: { at: number; description: Promise<EngineDescription | undefined> }
  /** Its last description. */
  last?: EngineDescription
}

interface EngineRegistryOptions {
  connect: (address: string) => EngineClient
  clock: Clock
  log: Logger
}

export class EngineRegistry {
  readonly #members = new Map<string, Member>()
  readonly #options: EngineRegistryOptions

  constructor(options: EngineRegistryOptions) {
    this.#options = options
  }

  /** Records that an engine is there, and its address. */
  announced({ engine_id: engineId, control_address: address }: EngineAnnouncement): void {
    const known = this.#members.get(engineId)
    const announcedAt = this.#options.clock.elapsed()
    if (known?.address === address) {
      known.announcedAt = announcedAt
      return
    }
    known?.client.close()
    this.#members.set(engineId, { address, client: this.#options.connect(address), announcedAt })
  }

  /** How many engines are there. */
  get engines(): number {
    this.#dropSilent()
    return this.#members.size
  }

  /** The descriptions of all engines; without those that do not respond. */
  async describe(): Promise<EngineDescription[]> {
    this.#dropSilent()
    const now = this.#options.clock.elapsed()
    const descriptions = [...this.#members.values()].map((member) => {
      if (!member.described || now - member.described.at >= DESCRIBED_MS_MAX) {
        const description = this.#ask(member, async (client) => {
          member.last = await client.describe()
          return member.last
        })
        member.described = { at: now, description }
      }
      return member.described.description
    })
    return (await Promise.all(descriptions)).filter((description) => description !== undefined)
  }

  /** The same without waiting: as they said last. Those that said it long ago are asked again. */
  lastDescriptions(): EngineDescription[] {
    void this.describe()
    return [...this.#members.values()].flatMap(({ last }) => last ?? [])
  }

  /** The same, and how it is doing. */
  survey(): Promise<{ description: EngineDescription; stats: EngineStats }[]> {
    return this.#askAll(async (client) => {
      const [description, stats] = await Promise.all([client.describe(), client.stats()])
      return { description, stats }
    })
  }

  /** Makes an engine stop working on a request. An engine that is gone is skipped. */
  async cancel(engineId: string, requestId: string): Promise<void> {
    this.#dropSilent()
    try {
      await this.#members.get(engineId)?.client.cancel(requestId)
    } catch (error) {
      this.#options.log.warn({ err: error, engineId, requestId }, 'an engine was not reached')
    }
  }

  close(): void {
    for (const { client } of this.#members.values()) client.close()
    this.#members.clear()
  }

  async #askAll<T>(ask: (client: EngineClient) => Promise<T>): Promise<T[]> {
    this.#dropSilent()
    const answers = [...this.#members.values()].map((member) => this.#ask(member, ask))
    return (await Promise.all(answers)).filter((answer) => answer !== undefined)
  }

  #ask<T>({ address, client }: Member, ask: (client: EngineClient) => Promise<T>) {
    return ask(client).catch((error: unknown) => {
      this.#options.log.warn({ err: error, address }, 'an engine did not describe itself')
      return undefined
    })
  }

  #dropSilent(): void {
    const oldest = this.#options.clock.elapsed() - SILENCE_MS_MAX
    for (const [engineId, { announcedAt, client }] of this.#members) {
      if (announcedAt >= oldest) continue
      client.close()
      this.#members.delete(engineId)
    }
  }
}
