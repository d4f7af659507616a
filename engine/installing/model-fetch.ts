/**
 * One fetch of a model: the process that downloads and installs it, and everybody who follows its
 * progress.
 */

import { spawn, type ChildProcess } from 'node:child_process'
import type { FetchProgress } from '../../shared/engine-control.ts'
import { programArguments } from '../../shared/process/programs.ts'
import type { CatalogueEntry } from './catalogue.ts'

/** The first message to the process. */
export interface FetchOrder {
  /** The folder in which models are installed. */
  folder: string
  entry: CatalogueEntry
}

export type FetchReport =
  | { type: 'waiting'; problem: string }
  | { type: 'downloading'; bytes: number; bytesTotal: number }
  | { type: 'converting' }
  | { type: 'installed' }
  | { type: 'failed'; problem: string }

const WORKER = new URL('./fetch-worker.ts', import.meta.url)

const STOPPED =
  'The fetch was stopped. What was downloaded is kept, and the next fetch resumes from there.'

export class ModelFetch {
  readonly #child: ChildProcess
  readonly #followers = new Set<(progress: FetchProgress) => void>()
  /** Resolves when the process has ended. */
  readonly ended: Promise<void>
  progress: FetchProgress

  /** @param environment of the process */
  constructor(order: FetchOrder, environment: NodeJS.ProcessEnv) {
    const total = order.entry.megabytes * 1e6
    this.progress = { state: 'DOWNLOADING', bytes: 0, bytes_total: total, problem: '' }
    this.#child = spawn(process.execPath, programArguments(WORKER), {
      env: environment,
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    })
    this.#child.unref() // it ends together with the engine
    this.#child.channel?.unref()
    this.ended = new Promise((resolve) => {
      const end = (problem: string) => {
        if (!this.hasEnded) this.#tell({ state: 'FAILED', problem })
        resolve()
      }
      this.#child.on('error', (error) => end(error.message))
      this.#child.on('exit', (code, signal) => end(`Its process ended (${signal ?? code}).`))
    })
    this.#child.on('message', (report: FetchReport) => this.#take(report))
    this.#child.send(order, () => undefined) // if nothing can be sent, the process has ended
  }

  get hasEnded(): boolean {
    return ['INSTALLED', 'FAILED'].includes(this.progress.state)
  }

  /**
   * Calls `onProgress` at once and after each change until the fetch ends. The fetch stops once
   * nobody follows it any more.
   * @returns a function that stops following
   */
  follow(onProgress: (progress: FetchProgress) => void): () => void {
    this.#followers.add(onProgress)
    onProgress(this.progress)
    return () => {
      this.#followers.delete(onProgress)
      if (this.#followers.size === 0) void this.stop()
    }
  }

  /** Ends the process, whatever it is doing, and resolves when it has ended. */
  async stop(): Promise<void> {
    this.#child.kill('SIGKILL')
    if (!this.hasEnded) this.#tell({ state: 'FAILED', problem: STOPPED })
    await this.ended
  }

  #take(report: FetchReport): void {
    if (this.hasEnded) return
    switch (report.type) {
      case 'waiting':
        return this.#tell({ state: 'WAITING', problem: report.problem })
      case 'downloading': {
        const { bytes, bytesTotal } = report
        return this.#tell({ state: 'DOWNLOADING', bytes, bytes_total: bytesTotal, problem: '' })
      }
      case 'converting':
        return this.#tell({ state: 'CONVERTING', bytes: this.progress.bytes_total })
      case 'installed':
        return this.#tell({ state: 'INSTALLED', problem: '' })
      case 'failed':
        return this.#tell({ state: 'FAILED', problem: report.problem })
    }
  }

  #tell(change: Partial<FetchProgress>): void {
    this.progress = { ...this.progress, ...change }
    for (const onProgress of this.#followers) onProgress(this.progress)
  }
}
