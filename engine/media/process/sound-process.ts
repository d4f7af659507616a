/**
 * All work on the sound of sources, in processes of their own: a file of a few kilobytes may state
 * an index of gigabytes. One that is done waits, warm, for the next file.
 */

import type { Level } from '../../../models/lanes/level.ts'
import type { Mixture, MixtureLimits } from '../read/mixture.ts'
import { LimitedProcess, LimitError, type ProcessLimits } from './limited-process.ts'
import { invalidMedia } from '../read/open-media.ts'
import { SharedMemory } from './shared-memory.ts'

/** About 150 MB of it are the process's own. */
export const SOUND_LIMITS: ProcessLimits = { bytesMax: 2 ** 29, secondsMax: 300, niceness: 0 }

/**
 * So long they wait, all but one: to start one takes half a second of processor time, and jobs that
 * came together once will again.
 */
const IDLE_MS_MAX = 60_000

export type SoundTask =
  | ({ do: 'measure'; path: string } & MeasuredPart)
  | { do: 'open'; path: string; limits: MixtureLimits }
  | { do: 'judgeLfe'; path: string; limits: MixtureLimits }
  | { do: 'measureLevels'; path: string; limits: MixtureLimits }
  | { do: 'next' }
  | { do: 'close' }

/** The part to measure: up to so many seconds of a track, as of `OpenOptions`. */
export interface MeasuredPart {
  secondsMax: number
  track?: number | undefined
}

/** Its samples are in the shared memory. */
export interface NextBlock {
  /** Per channel; 0: there are no more. */
  samples: number
  corruptPackets: number
  remarks: readonly string[]
}

/** Facts found on opening a file. */
export type MixtureFacts = Omit<Mixture, 'corruptPackets' | 'remarks' | 'blocks' | 'close'>

const WORKER = new URL('./sound-worker.ts', import.meta.url)

export class SoundProcess extends LimitedProcess<SoundTask> {
  /** Has the latest block. */
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
  /** Waiting processes, the one that waits longest first. */
  readonly #idle = new Map<SoundProcess, NodeJS.Timeout>()

  /**
   * Starts the process of the first file.
   * @param folder where files are: the processes read no others, and write none
   */
  constructor(folder: string, limits = SOUND_LIMITS, idleMsMax = IDLE_MS_MAX) {
    this.#folder = folder
    this.#limits = limits
    this.#idleMsMax = idleMsMax
    this.#warmUp()
  }

  /**
   * Resolves with what `work` does; its reader serves one file at a time, and no longer than that.
   * @throws what `work` throws; the signal's reason once aborted, and then its process is killed
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
      reader.close().catch(() => undefined) // the outcome of `work` need not wait for it
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

  /** The one that waits shortest, so that the others may end. */
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

/** Reads one file in a process of its own: what takes too much there is INVALID_MEDIA. */
export class SoundReader {
  readonly #process: SoundProcess
  #closing: Promise<void> | undefined

  constructor(process: SoundProcess) {
    this.#process = process
  }

  /** Closes the file that was measured or opened; does nothing after that. */
  close(): Promise<void> {
    return (this.#closing ??= this.#close())
  }

  async #close(): Promise<void> {
    if (!this.#process.hasEnded) await this.#call({ do: 'close' })
  }

  /** As `measureSound`. */
  measure(path: string, part: MeasuredPart): Promise<number | null> {
    this.#closing = undefined
    return this.#call({ do: 'measure', path, ...part })
  }

  /** As `openMixture`: it is decoded there, block by block as they are asked for. */
  async open(path: string, limits: MixtureLimits): Promise<Mixture> {
    this.#closing = undefined
    const facts = await this.#call<MixtureFacts>({ do: 'open', path, limits })
    let found: Pick<NextBlock, 'corruptPackets' | 'remarks'> = { corruptPackets: 0, remarks: [] }
    const close = () => this.close()
    const next = async () => {
      const answer = await this.#call<NextBlock>({ do: 'next' })
      found = answer
      if (answer.samples === 0) return null
      // Before the next one is asked for.
      return this.#process.memory.read(facts.channels, answer.samples)
    }
    return {
      ...facts,
      get corruptPackets() {
        return found.corruptPackets
      },
      get remarks() {
        return found.remarks
      },
      async *blocks() {
        let following = next()
        for (let block = await following; block; block = await following) {
          following = next() // decoded while this one is used
          following.catch(() => undefined) // awaited next: until then it is not unhandled
          yield block
        }
        close().catch(() => undefined) // as above; the outcome of the job need not wait for it
      },
      close,
    }
  }

  /** As `isLfeFull`, of the sound of a file that is open: it is opened and decoded once more. */
  isLfeFull(path: string, limits: MixtureLimits): Promise<boolean> {
    return this.#call({ do: 'judgeLfe', path, limits })
  }

  /** As `levelsOf`, likewise. */
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
