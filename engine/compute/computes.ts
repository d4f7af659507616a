/**
 * Decides where the models of an engine compute. On a GPU all share the engine's thread, whose
 * steps are short. On a processor a step of an installed model takes seconds, so that each has a
 * process of its own; those that came with Winnow share the thread.
 */

import { isBuiltIn, type ModelChoice, type ModelFolders } from '../../models/model-choice.ts'
import { TAGGER } from '../../models/tagger/config.ts'
import type { Logger } from '../../shared/telemetry/log.ts'
import { ComputeLostError } from './compute-errors.ts'
import type { DeviceState, LoadedModel } from './compute-messages.ts'
import { ComputeProcess } from './compute-process.ts'
import { ComputeThread } from './compute-thread.ts'
import type { Compute, ComputeOptions } from './compute.ts'
import { freeMemory } from './free-memory.ts'

export type StartedProcess = Pick<
  ComputeProcess,
  | ('prepare' | 'open' | 'step' | 'close' | 'discard' | 'stop')
  | ('ready' | 'restarting' | 'busySeconds' | 'held')
>

/**
 * Starts a process for a model.
 * @param freeBytes what it may take; absent: nobody asks
 * @param onLost called when it has ended for good
 */
export type StartProcess = (
  choice: ModelChoice,
  onLost: (error: Error) => void,
  freeBytes?: number,
) => Promise<StartedProcess>

export class Computes {
  readonly thread: Compute
  readonly #isLight: (choice: ModelChoice) => boolean
  readonly #startProcess: StartProcess
  /** By the names of their models. */
  readonly #processes = new Map<string, StartedProcess>()
  /** Spent by processes that have ended. */
  #busySeconds = 0
  /** Called when the process of a model has ended for good; the model is not here any more. */
  onLost: (model: string, error: Error) => void = () => undefined
  /** Called when a process has ended, or is about to, so that it computes no more. */
  onEnded: (process: StartedProcess) => void = () => undefined

  /** Resolves when all models are loaded and warm. @throws what the loader of a model throws */
  static async start(
    options: ComputeOptions & { modelFolders: ModelFolders },
    log: Logger,
  ): Promise<Computes> {
    const isLight = (choice: ModelChoice) => isBuiltIn(choice, options.modelFolders)
    const heavy = options.models.filter((choice) => !isLight(choice))
    const leftOut = heavy.map(({ name }) => name)
    const thread = await ComputeThread.start({ ...options, leftOut }, log)
    const startProcess: StartProcess = (choice, onLost, freeBytes) => {
      const own = { ...options, models: [choice], leftOut: [TAGGER], freeBytes }
      return ComputeProcess.start(choice.name, own, log, onLost)
    }
    const computes = new Computes(thread, isLight, startProcess)
    if (thread.ready.device === 'cpu') {
      await Promise.all(heavy.map((choice) => computes.#begin(choice)))
    }
    return computes
  }

  /** @param isLight whether a model is for the thread on a processor too */
  constructor(
    thread: Compute,
    isLight: (choice: ModelChoice) => boolean,
    startProcess: StartProcess,
  ) {
    this.thread = thread
    this.#isLight = isLight
    this.#startProcess = startProcess
  }

  /** In no order. */
  get models(): LoadedModel[] {
    return this.#all().flatMap(({ ready }) => ready.models)
  }

  /** Notes for the operator on models and device, in sentences. */
  get warnings(): string[] {
    return [...new Set(this.#all().flatMap(({ ready }) => ready.warnings))]
  }

  /** Time that they have spent on commands, together. */
  get busySeconds(): number {
    return this.#all().reduce((sum, { busySeconds }) => sum + busySeconds, this.#busySeconds)
  }

  /** State of the device, together. */
  get held(): DeviceState {
    const add = (a: DeviceState, b: DeviceState): DeviceState => ({
      graphs: a.graphs + b.graphs,
      memoryBytes: a.memoryBytes + b.memoryBytes,
      memoryPeakBytes: a.memoryPeakBytes + b.memoryPeakBytes,
      residentBytes: a.residentBytes + b.residentBytes,
    })
    return this.#all()
      .map(({ held }) => held)
      .reduce(add)
  }

  /** Resident memory of this process and of those of its models, in bytes. */
  get memoryBytes(): number {
    const own = process.memoryUsage.rss()
    return [...this.#processes.values()].reduce((sum, { held }) => sum + held.residentBytes, own)
  }

  /** @throws ComputeLostError where a model of that name is not here any more */
  of(model: string): Compute | StartedProcess {
    if (model === TAGGER) return this.thread
    const found = this.#all().find(({ ready }) =>
      ready.models.some(({ description }) => description.name === model),
    )
    if (found) return found
    throw new ComputeLostError(`${model} is not loaded any more`)
  }

  /** @throws Error when there is no room for it; what its loader throws */
  async load(choice: ModelChoice): Promise<void> {
    const { device } = this.thread.ready
    if (device === 'gpu' || this.#isLight(choice)) await this.thread.load(choice)
    else await this.#begin(choice, freeMemory())
  }

  /** Returns whether the model can be unloaded, since it has a process of its own. */
  canUnload(model: string): boolean {
    return this.#processes.has(model)
  }

  /** Ends the process of a model. */
  async unload(model: string): Promise<void> {
    await this.#forget(model)?.stop()
  }

  async stop(): Promise<void> {
    await Promise.all(this.#all().map((each) => each.stop()))
  }

  async #begin(choice: ModelChoice, freeBytes?: number): Promise<void> {
    const onLost = (error: Error) => {
      this.#forget(choice.name)
      this.onLost(choice.name, error)
    }
    this.#processes.set(choice.name, await this.#startProcess(choice, onLost, freeBytes))
  }

  #forget(model: string): StartedProcess | undefined {
    const process = this.#processes.get(model)
    if (!process) return undefined
    this.#processes.delete(model)
    this.#busySeconds += process.busySeconds
    this.onEnded(process)
    return process
  }

  #all(): (Compute | StartedProcess)[] {
    return [this.thread, ...this.#processes.values()]
  }
}
