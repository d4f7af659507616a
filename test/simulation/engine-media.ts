/** Simulates an engine's files and network; its files are only names. */

import { setMaxListeners } from 'node:events'
import type { JobMedia, JobOutputs } from '../../engine/job/job-media.ts'
import type { OutputsOptions } from '../../engine/job/outputs/outputs.ts'
import type { Mixture } from '../../engine/media/read/mixture.ts'
import { LONG_RETRY_POLICY, RETRY_POLICY, withRetries } from '../../engine/media/retry.ts'
import { SourceUnavailableError } from '../../engine/media/read/source.ts'
import { UploadRefusedError, UploadUnavailableError } from '../../engine/media/write/upload.ts'
import { ServiceError } from '../../shared/errors.ts'
import { isTemporaryStatus } from '../../shared/http/http-request.ts'
import { ATTEMPT_HEADER, PLACE_HEADER } from '../../shared/output-places.ts'
import type { Calls } from './calls.ts'
import type { Process } from './scheduler.ts'

/** In hertz: a second of sound is ten samples. */
export const RATE = 10
const STEP_MS = [1, 300] as const

export interface SourceFacts {
  /** Length of the sound. */
  seconds: number
  /** Whether its packets state the length before it is decoded. */
  isMeasured: boolean
  isDamaged: boolean
}

/** Status and headers of an answer. */
export interface MediaAnswer {
  status: number
  headers: Record<string, string>
}

export type Exchange = (
  method: 'GET' | 'PUT',
  url: string,
  headers?: Record<string, string>,
) => Promise<MediaAnswer>

interface Parts {
  owner: Process
  calls: Calls
  exchange: Exchange
  factsOf: (url: string) => SourceFacts
}

export class EngineMedia implements JobMedia {
  readonly folders = new Set<string>()
  /** Mixtures not closed yet. */
  readonly open = new Set<object>()
  readonly #parts: Parts
  readonly #facts = new Map<string, SourceFacts>()
  #foldersMade = 0

  constructor(parts: Parts) {
    this.#parts = parts
  }

  readonly soundProcesses = {
    use: async <T>(signal: AbortSignal, work: (reader: object) => Promise<T>): Promise<T> => {
      signal.throwIfAborted()
      return work({
        measure: (path: string) => this.#measure(path, signal),
        open: (path: string) => this.#open(path, signal),
      })
    },
  }

  makeFolder: JobMedia['makeFolder'] = async (scratchFolder) => {
    const folder = `${scratchFolder}/job-${(this.#foldersMade += 1)}`
    await this.#pause('make folder')
    this.folders.add(folder)
    return folder
  }

  removeFolder: JobMedia['removeFolder'] = async (folder) => void this.folders.delete(folder)

  fetchSource: JobMedia['fetchSource'] = async ({ url, path, signal, onUnavailable }) => {
    const fetchOnce = async () => {
      const { status } = await this.#parts.exchange('GET', url).catch((cause: unknown) => {
        throw new SourceUnavailableError('away', { cause })
      })
      if (isTemporaryStatus(status)) throw new SourceUnavailableError(`it returned ${status}`)
      if (status !== 200) throw new ServiceError('MEDIA_FETCH_FAILED')
      this.#facts.set(path, this.#parts.factsOf(url))
      return 1
    }
    try {
      return await withRetries(
        fetchOnce,
        RETRY_POLICY,
        signal,
        onUnavailable ? { onUnavailable } : {},
      )
    } catch (error) {
      throw signal.aborted ? signal.reason : error
    }
  }

  fetchPublicSource: JobMedia['fetchPublicSource'] = async (_publicFetch, options) => {
    const { owner, calls, factsOf } = this.#parts
    await calls
      .toWorld(owner, 'fetch url', () => undefined)
      .catch(() => {
        throw new ServiceError('MEDIA_FETCH_FAILED')
      })
    options.signal.throwIfAborted()
    this.#facts.set(options.path, factsOf(options.url))
    return { bytes: 1, fileName: undefined }
  }

  openOutputs = async ({ names, folder, signal }: OutputsOptions): Promise<JobOutputs> => {
    let samples = 0
    await this.#pause('open outputs')
    signal.throwIfAborted()
    return {
      sound: { sampleRate: RATE, channels: 1 },
      write: async ({ mixture }) => {
        await this.#pause('encode')
        samples += mixture[0]!.length
      },
      finish: async (store) => {
        const stored = names.map(async (name) => {
          const place = await store(name, `${folder}/${name}`, 'audio/wav')
          const file = { content_type: 'audio/wav', extension: 'wav', bytes: samples }
          return [name, { ...file, ...(place !== undefined && { place }) }] as const
        })
        const settled = await Promise.allSettled(stored)
        for (const each of settled) if (each.status === 'rejected') throw each.reason
        return Object.fromEntries(await Promise.all(stored)) as never
      },
      abort: async () => undefined,
    }
  }

  uploadOutput: JobMedia['uploadOutput'] = async (options) => {
    const { url, attemptId, signal, onUnavailable } = options
    const uploadHeaders = { [ATTEMPT_HEADER]: attemptId }
    const uploadOnce = async () => {
      const answer = await this.#parts
        .exchange('PUT', url, uploadHeaders)
        .catch((cause: unknown) => {
          throw new UploadUnavailableError('away', { cause })
        })
      const { status, headers } = answer
      if (status === 409) throw new UploadRefusedError()
      if (isTemporaryStatus(status)) throw new UploadUnavailableError(`it returned ${status}`)
      if (status !== 200) throw new Error(`the media store refused an output: ${status}`)
      return headers[PLACE_HEADER]
    }
    try {
      return await withRetries(
        uploadOnce,
        LONG_RETRY_POLICY,
        signal,
        onUnavailable ? { onUnavailable } : {},
      )
    } catch (error) {
      throw signal.aborted ? signal.reason : error
    }
  }

  async #measure(path: string, signal: AbortSignal): Promise<number | null> {
    await this.#pauseOrAbort(signal, 'measure')
    const { seconds, isMeasured } = this.#facts.get(path)!
    return isMeasured ? seconds : null
  }

  async #open(path: string, signal: AbortSignal): Promise<Mixture> {
    await this.#pauseOrAbort(signal, 'open media')
    const { seconds, isDamaged } = this.#facts.get(path)!
    if (isDamaged) throw new ServiceError('INVALID_MEDIA')
    const untilNext = () => this.#pauseOrAbort(signal, 'decode')
    const mixture: Mixture = {
      sampleRate: RATE,
      channels: 1,
      sourceChannels: 1,
      channelMask: 0n,
      hasVideo: false,
      streamIndex: 0,
      sourceSampleRate: RATE,
      codec: 'none',
      container: 'none',
      tags: {},
      cover: null,
      corruptPackets: 0,
      trackRemarks: [],
      remarks: [],
      async *blocks() {
        await untilNext()
        for (let left = Math.round(seconds * RATE); left > 0; left -= 5 * RATE) {
          yield [new Float32Array(Math.min(left, 5 * RATE)).fill(0.5)]
        }
      },
      close: async () => void this.open.delete(mixture),
    }
    this.open.add(mixture)
    return mixture
  }

  #pause(name: string): Promise<void> {
    const { owner, calls } = this.#parts
    const place = `${owner.name} ${name}`
    const ms = calls.choices.between(place, ...STEP_MS)
    return calls.scheduler.delay(owner, ms, place)
  }

  /** Pauses, and then throws if aborted, like a process killed by the abort. */
  async #pauseOrAbort(signal: AbortSignal, name: string): Promise<void> {
    setMaxListeners(0, signal)
    await this.#pause(name)
    signal.throwIfAborted()
  }
}
