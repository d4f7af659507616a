/**
 * Decides where the models of an engine compute. On a GPU all of them share the engine's thread,
 * because their steps are short. On a CPU a step of an installed model takes seconds, so each
 * has its own process; models that came with Winnow share the thread.
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

export type ModelProcess = Pick<
  ComputeProcess,
  | ('prepare' | 'open' | 'step' | 'close' | 'discard' | 'stop')
  | ('ready' | 'restarting' | 'busySeconds' | 'held')
>

/**
 * Starts a process for a model.
 * @param freeBytes how much memory it may take; absent if unlimited
 * @param onLost is called when the process has ended for good
 */
export type StartProcess = (
  choice: ModelChoice,
  onLost: (error: Error) => void,
  freeBytes?: number,
) => Promise<ModelProcess>

export class Computes {
  readonly thread: Compute
  readonly #isLight: (choice: ModelChoice) => boolean
  readonly #startProcess: StartProcess
  /** By name of their model. */
  readonly #processes = new Map<string, ModelProcess>()
  /** Spent by processes that have ended. */
  #busySeconds = 0
  /** Called when the process of a model has ended for good, so that the model is gone. */
  onLost: (model: string, error: Error) => void = () => undefined
  /** Called when a process has ended or is about to, and computes no more. */
  onEnded: (process: ModelProcess) => void = () => undefined

  /**
   * Resolves when all models are loaded and warm.
   * @throws whatever a model's loader throws
   */
  static async start(
    options: ComputeOptions & { modelFolders: ModelFolders },
    log: Logger,
  ): Promise<Computes> {
    const isLight = (choice: ModelChoice) => isBuiltIn(choice, options.modelFolders)
    const heavy = options.models.filter((choice) => !isLight(choice))
    const leftOut = heavy.map(({ name }) => name)
    const thread = await ComputeThread.start({ ...options, leftOut }, log)
    const startProcess: StartProcess = (choice, onLost, freeBytes) => {
      const processOptions = { ...options, models: [choice], leftOut: [TAGGER], freeBytes }
      return ComputeProcess.start(choice.name, processOptions, log, onLost)
    }
    const computes = new Computes(thread, isLight, startProcess)
    if (thread.ready.device === 'cpu') {
      await Promise.all(heavy.map((choice) => computes.#begin(choice)))
    }
    return computes
  }

  /** @param isLight whether a model uses the thread even on a CPU */
  constructor(
    thread: Compute,
    isLight: (choice: ModelChoice) => boolean,
    startProcess: StartProcess,
  ) {
    this.thread = thread
    this.#isLight = isLight
    this.#startProcess = startProcess
  }

  /** In no particular order. */
  get models(): LoadedModel[] {
    return this.#all().flatMap(({ ready }) => ready.models)
  }

  /** Warnings for admins about models and device, in full sentences. */
  get warnings(): string[] {
    return [...new Set(this.#all().flatMap(({ ready }) => ready.warnings))]
  }

  /** Time spent on commands, in total. */
  get busySeconds(): number {
    return this.#all().reduce((sum, { busySeconds }) => sum + busySeconds, this.#busySeconds)
  }

  /** The state of the device, in total. */
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

  /** Resident memory of this process and of the model processes, in bytes. */
  get memoryBytes(): number {
    const engineBytes = process.memoryUsage.rss()
    return [...this.#processes.values()].reduce(
      (sum, { held }) => sum + held.residentBytes,
      engineBytes,
    )
  }

  /** @throws ComputeLostError if the model is gone */
  of(model: string): Compute | ModelProcess {
    if (model === TAGGER) return this.thread
    const compute = this.#all().find(({ ready }) =>
      ready.models.some(({ description }) => description.name === model),
    )
    if (compute) return compute
    throw new ComputeLostError(`${model} is not loaded any more`)
  }

  /** @throws Error if there is no memory for the model; whatever its loader throws */
  async load(choice: ModelChoice): Promise<void> {
    const { device } = this.thread.ready
    if (device === 'gpu' || this.#isLight(choice)) await this.thread.load(choice)
    else await this.#begin(choice, freeMemory())
  }

  /** Whether the model can be unloaded, which takes a process of its own. */
  canUnload(model: string): boolean {
    return this.#processes.has(model)
  }

  /** Ends the process of a model. */
  async unload(model: string): Promise<void> {
    await this.#forget(model)?.stop()
  }

  async stop(): Promise<void> {
    await Promise.all(this.#all().map((compute) => compute.stop()))
  }

  async #begin(choice: ModelChoice, freeBytes?: number): Promise<void> {
    const onLost = (error: Error) => {
      this.#forget(choice.name)
      this.onLost(choice.name, error)
    }
    this.#processes.set(choice.name, await this.#startProcess(choice, onLost, freeBytes))
  }

  #forget(model: string): ModelProcess | undefined {
    const process = this.#processes.get(model)
    if (!process) return undefined
    this.#processes.delete(model)
    this.#busySeconds += process.busySeconds
    this.onEnded(process)
    return process
  }

  #all(): (Compute | ModelProcess)[] {
    return [this.thread, ...this.#processes.values()]
  }
}
