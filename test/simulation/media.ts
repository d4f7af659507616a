/** The media store in memory: a local disk as a gateway sees it. */

import { Readable } from 'node:stream'
import type { LocalDisk, Upload } from '../../gateway/media-store/media-store.ts'
import type { Audience } from '../../gateway/media-store/signed-url.ts'
import type { Calls } from './calls.ts'
import type { Process } from './scheduler.ts'

export const MEDIA_URL = 'http://media.test'

export interface StoredMedia {
  writtenAt: number
  bytes: number
}

export class MediaDisk {
  readonly stored = new Map<string, StoredMedia>()
  /** Media that is written, but neither placed under a key nor discarded yet. */
  readonly staged = new Set<object>()
  away = false
  /** Called with the requested key before anything is removed. */
  onRemove: (key: string) => void = () => undefined
  readonly #calls: Calls
  readonly #wallClock: () => number

  constructor(calls: Calls, wallClock: () => number) {
    this.#calls = calls
    this.#wallClock = wallClock
  }

  /** Returns the disk as `owner` sees it. */
  connect(owner: Process): LocalDisk {
    const call = <T>(name: string, effect: () => T) =>
      this.#calls.toWorld(owner, name, () => {
        if (this.away) throw new Error('the disk is away')
        return effect()
      })
    const address = async ({ key, audience, body }: Pick<Upload, 'key' | 'audience' | 'body'>) =>
      `${MEDIA_URL}/media/${key}?for=${audience}${body ? `&size=${body.bytes}` : ''}`
    return {
      kind: 'local disk',
      place: 'memory',
      bytesLeft: async () => Infinity,
      hasRoom: async () => true,
      owner: async () => undefined,
      claim: async () => undefined,
      removeUnfinished: async () => undefined,
      uploadUrl: address,
      downloadUrl: address,
      remove: (key) => call('remove media', () => this.#remove(key)),
      list: () => this.#list(),
      check: (method, path, { for: audience, size }) => ({
        method,
        path,
        expiresAt: Infinity,
        audience: audience as Audience,
        ...(size !== undefined && { size: Number(size) }),
      }),
      stage: async (_body, { bytes = 1 }) => {
        const staged = {}
        owner.onDeath(() => this.staged.delete(staged)) // the gateway's next start would discard it
        await call('stage media', () => owner.alive && this.staged.add(staged)).catch(
          (error: unknown) => {
            this.staged.delete(staged) // either everything is stored or nothing
            throw error
          },
        )
        return {
          place: (key) =>
            call('place media', () => {
              this.staged.delete(staged)
              this.stored.set(key, { writtenAt: this.#wallClock(), bytes })
            }),
          discard: async () => void this.staged.delete(staged),
        }
      },
      save: (key) =>
        call('save media', () => {
          this.stored.set(key, { writtenAt: this.#wallClock(), bytes: 1 })
        }),
      engineFolder: undefined, // it shares no disk with an engine
      adopt: async () => undefined,
      handOver: async () => false,
      reply: async (key) => {
        const exists = await call('read media', () => this.stored.has(key))
        return { status: exists ? 200 : 404, headers: {}, body: Readable.from([]) }
      },
    }
  }

  #remove(key: string): void {
    this.onRemove(key)
    for (const each of this.stored.keys()) {
      if (each === key || each.startsWith(`${key}/`)) this.stored.delete(each)
    }
  }

  async *#list() {
    for (const [key, { writtenAt }] of [...this.stored]) yield { key, writtenAt }
  }
}
