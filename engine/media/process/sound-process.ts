/**
 * Processes for all work on the sound of sources, because a file of a few kilobytes may declare an
 * index of gigabytes. A finished process stays warm for the next file.
 */

import type { Level } from '../../../models/lanes/level.ts'
import type { MeasureOptions } from '../read/measure.ts'
import type { Mixture, MixtureLimits } from '../read/mixture.ts'
import { LimitedProcess, LimitError, type ProcessLimits } from './limited-process.ts'
import { invalidMedia } from '../read/open-media.ts'
import { SharedMemory } from './shared-memory.ts'

/** About 150 MB of this are the process's own. */
export const SOUND_LIMITS: ProcessLimits = { bytesMax: 2 ** 29, secondsMax: 300, niceness: 0 }

/**
 * Idle processes end after this long, except for one. Starting one takes half a second of CPU time,
 * and jobs that arrived together may do so again.
 */
const IDLE_MS_MAX = 60_000

export type SoundTask =
  | ({ do: 'measure'; path: string } & MeasureOptions)
  | { do: 'open'; path: string; limits: MixtureLimits }
  | { do: 'judgeLfe'; path: string; limits: MixtureLimits }
  | { do: 'measureLevels'; path: string; limits: MixtureLimits }
  | { do: 'next' }
  | { do: 'close' }

/** Its samples are in the shared memory. */
export interface NextBlock {
  /** Samples per channel; 0 at the end. */
  samples: number
  corruptPackets: number
  remarks: readonly string[]
}

/** What is known once a file is open. */
export type MixtureFacts = Omit<Mixture, 'corruptPackets' | 'remarks' | 'blocks' | 'close'>

const WORKER = new URL('./sound-worker.ts', import.meta.url)

export class SoundProcess extends LimitedProcess<SoundTask> {
  /** Holds the latest block. */
  readonly memory: SharedMemory

  constructor(limits: ProcessLimits, folder: string) {
    const memory = new SharedMemory()
    super(WORKER, limits, { reads: [folder], memory: memory.descriptor })
    this.memory = memory
  }

  override close(reason?: unknown): void {
    super.close(reason)
    this.memory.close()
  }
}

export class SoundProcesses {
  readonly #folder: string
  readonly #limits: ProcessLimits
  readonly #idleMsMax: number
  /** Idle processes, the longest idle first. */
  readonly #idle = new Map<SoundProcess, NodeJS.Timeout>()

  /**
   * Starts a process for the first file.
   * @param folder the folder of the files; the processes read nothing else, and write nothing
   */
  constructor(folder: string, limits = SOUND_LIMITS, idleMsMax = IDLE_MS_MAX) {
    this.#folder = folder
    this.#limits = limits
    this.#idleMsMax = idleMsMax
    this.#warmUp()
  }

  /**
   * Resolves with what `work` returns. Its reader serves one file at a time, and only until then.
   * @throws whatever `work` throws; the signal's reason once aborted, in which case the process is
   *   killed
   */
  async use<T>(signal: AbortSignal, work: (reader: SoundReader) => Promise<T>): Promise<T> {
    signal.throwIfAborted()
    const process = this.#take()
    const reader = new SoundReader(process)
    const abort = () => process.close(signal.reason)
    signal.addEventListener('abort', abort, { once: true })
    try {
      return await work(reader)
    } finally {
      signal.removeEventListener('abort', abort)
      reader.close().catch(() => undefined) // the outcome of `work` need not wait for this
      if (!process.hasEnded) this.#keep(process)
      this.#warmUp()
    }
  }

  #warmUp(): void {
    if (this.#idle.size === 0) this.#keep(this.#start())
  }

  #start(): SoundProcess {
    return new SoundProcess(this.#limits, this.#folder)
  }

  /** Takes the process that has been idle the shortest, so that the others may end. */
  #take(): SoundProcess {
    for (const [process, timer] of [...this.#idle].reverse()) {
      clearTimeout(timer)
      this.#idle.delete(process)
      if (!process.hasEnded) return process
    }
    return this.#start()
  }

  #keep(process: SoundProcess): void {
    this.#idle.set(process, setTimeout(() => this.#end(process), this.#idleMsMax).unref())
  }

  #end(process: SoundProcess): void {
    if (this.#idle.size === 1) return
    this.#idle.delete(process)
    process.close()
  }
}

/** Reads one file in a process of its own; a file that exceeds its limits is INVALID_MEDIA. */
export class SoundReader {
  readonly #process: SoundProcess
  #closing: Promise<void> | undefined

  constructor(process: SoundProcess) {
    this.#process = process
  }

  /** Closes the file that was measured or opened, if any. */
  close(): Promise<void> {
    return (this.#closing ??= this.#close())
  }

  async #close(): Promise<void> {
    if (!this.#process.hasEnded) await this.#call({ do: 'close' })
  }

  /** Like `measureSound`. */
  measure(path: string, options: MeasureOptions): Promise<number | null> {
    this.#closing = undefined
    return this.#call({ do: 'measure', path, ...options })
  }

  /** Like `openMixture`; the file is decoded in the process, block by block on request. */
  async open(path: string, limits: MixtureLimits): Promise<Mixture> {
    this.#closing = undefined
    const facts = await this.#call<MixtureFacts>({ do: 'open', path, limits })
    let latest: Pick<NextBlock, 'corruptPackets' | 'remarks'> = { corruptPackets: 0, remarks: [] }
    const close = () => this.close()
    const next = async () => {
      const answer = await this.#call<NextBlock>({ do: 'next' })
      latest = answer
      if (answer.samples === 0) return null
      // Read before the next block is requested.
      return this.#process.memory.read(facts.channels, answer.samples)
    }
    return {
      ...facts,
      get corruptPackets() {
        return latest.corruptPackets
      },
      get remarks() {
        return latest.remarks
      },
      async *blocks() {
        let following = next()
        for (let block = await following; block; block = await following) {
          following = next() // decoded while this block is used
          // The next round awaits it; without this, an earlier failure would count as unhandled.
          following.catch(() => undefined)
          yield block
        }
        close().catch(() => undefined) // the outcome of the job need not wait for this
      },
      close,
    }
  }

  /** Like `lfeHasFullRange`, for the sound of an open file, opened and decoded once more. */
  lfeHasFullRange(path: string, limits: MixtureLimits): Promise<boolean> {
    return this.#call({ do: 'judgeLfe', path, limits })
  }

  /** Like `levelsOf`, in the same way. */
  levels(path: string, limits: MixtureLimits): Promise<Level[]> {
    return this.#call({ do: 'measureLevels', path, limits })
  }

  async #call<T>(task: SoundTask): Promise<T> {
    try {
      return await this.#process.call<T>(task)
    } catch (error) {
      if (!(error instanceof LimitError)) throw error
      throw invalidMedia(`The file could not be read: ${error.message}`, error)
    }
  }
}
