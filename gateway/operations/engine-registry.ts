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

/** An engine without an announcement for so long is gone. */
const SILENCE_MS_MAX = 15_000

interface Member {
  address: string
  /** By `clock.elapsed`. */
  announcedAt: number
  client: EngineClient
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
    if (known && known.address !== address) known.client.close()
    const client = known?.address === address ? known.client : this.#options.connect(address)
    this.#members.set(engineId, { address, client, announcedAt: this.#options.clock.elapsed() })
  }

  /** How many engines are there. */
  get engines(): number {
    this.#dropSilent()
    return this.#members.size
  }

  /** The descriptions of all engines; without those that do not respond. */
  describe(): Promise<EngineDescription[]> {
    return this.#askAll((client) => client.describe())
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
    const answers = [...this.#members.values()].map(({ address, client }) =>
      ask(client).catch((error: unknown) => {
        this.#options.log.warn({ err: error, address }, 'an engine did not describe itself')
        return undefined
      }),
    )
    return (await Promise.all(answers)).filter((answer) => answer !== undefined)
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
