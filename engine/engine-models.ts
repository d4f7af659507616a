/** The models that an engine holds, and those that it could load while it runs. */

import { factsOf, type ModelFacts } from '../models/installed/facts.ts'
import {
  availableChoices,
  isBuiltIn,
  isThere,
  rankOf,
  type ModelChoice,
  type ModelFolders,
} from '../models/model-choice.ts'
import { CHANNELS_MAX, type ModelDescription } from '../models/model.ts'
import type { DescribedModel, InstalledModel, ModelState } from '../shared/engine-control.ts'
import type { Logger } from '../shared/telemetry/log.ts'
import type { Computes } from './compute/computes.ts'
import { CallRefusal } from './call-refusal.ts'

interface EngineModelsOptions {
  folders: ModelFolders
  /** Models to hold from the start, the preferred one first. */
  models: readonly ModelChoice[]
  /** Models named by the settings, which are preferred to all others. */
  namedModels: readonly ModelChoice[]
  computes: Pick<Computes, 'models' | 'load' | 'canUnload' | 'unload'>
  log: Logger
  /** Called after each change of the models available to new jobs. */
  onChange(): void
}

/** A model that was loaded, or whose load was attempted. */
interface Entry {
  readonly choice: ModelChoice
  readonly facts: ModelFacts
  /** Position in the order of preference. */
  readonly rank: number
  state: ModelState
  problem: string
  /** Jobs in flight that use it. */
  uses: number
  /** Settles when the load in progress ends. */
  loading: Promise<void> | null
}

export class EngineModels {
  readonly #options: EngineModelsOptions
  readonly #entries = new Map<string, Entry>()
  /** Called when a state or a use changes. */
  #waiting: (() => void)[] = []
  #descriptions: readonly ModelDescription[] = []
  #version = 0

  constructor(options: EngineModelsOptions) {
    this.#options = options
    for (const choice of options.models) this.#entryOf(choice).state = 'LOADED'
    this.#descriptions = this.#loaded()
  }

  /** Models for new jobs, the preferred one first. */
  get descriptions(): readonly ModelDescription[] {
    return this.#descriptions
  }

  get names(): string[] {
    return this.#descriptions.map(({ name }) => name)
  }

  /** Increases with each change of `descriptions`. */
  get version(): number {
    return this.#version
  }

  /** Keeps these models loaded for a job until it calls the returned function. */
  use(names: readonly string[]): () => void {
    const entries = names.flatMap((name) => this.#entries.get(name) ?? [])
    for (const entry of entries) entry.uses += 1
    return () => {
      for (const entry of entries) entry.uses -= 1
      this.#wake()
    }
  }

  /**
   * Models that it holds or could load, in order.
   * @throws Error naming a damaged file
   */
  list(): InstalledModel[] {
    return this.#choices().map((choice) => {
      const { name } = choice
      const { state = 'NOT_LOADED', problem = '', facts } = this.#entries.get(name) ?? {}
      const now = state === 'NOT_LOADED' || !facts ? factsOf(choice) : facts
      return { name, built_in: isBuiltIn(choice, this.#options.folders), state, problem, ...now }
    })
  }

  /**
   * Resolves once the model is loaded.
   * @throws CallRefusal
   */
  async load(name: string): Promise<DescribedModel> {
    const choice = this.#choiceOf(name)
    const entry = this.#entryOf(choice)
    if (entry.state === 'UNLOADING') this.#set(entry, 'LOADED') // jobs still use it
    if (entry.state === 'NOT_LOADED') entry.loading = this.#load(entry)
    await entry.loading
    const loaded = this.#descriptions.find((description) => description.name === name)
    if (loaded) return describeModel(loaded)
    throw new CallRefusal('FAILED_PRECONDITION', `${name} was unloaded meanwhile.`)
  }

  /**
   * Resolves once no job uses the model any more and its memory is free.
   * @throws CallRefusal
   */
  async unload(name: string): Promise<void> {
    this.#choiceOf(name)
    const entry = this.#entries.get(name)
    await entry?.loading?.catch(() => undefined)
    if (!entry || entry.state === 'NOT_LOADED') return
    this.#assertMayUnload(entry)
    this.#set(entry, 'UNLOADING')
    const state = await this.#untilUnused(entry)
    if (state === 'UNLOADING') {
      this.#set(entry, 'NOT_LOADED')
      await this.#options.computes.unload(name)
      this.#options.log.info({ model: name }, 'unloaded a model')
    } else if (state !== 'NOT_LOADED') {
      throw new CallRefusal('FAILED_PRECONDITION', `${name} was loaded again meanwhile.`)
    }
  }

  /** Returns the state of a model once no job uses it or somebody has changed it. */
  async #untilUnused(entry: Entry): Promise<ModelState> {
    while (entry.state === 'UNLOADING' && entry.uses > 0) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    }
    return entry.state
  }

  /** Reports that the process of a model has ended for good. */
  lost(name: string, error: Error): void {
    const entry = this.#entries.get(name)
    if (!entry) return
    entry.problem = error.message
    this.#set(entry, 'NOT_LOADED')
  }

  async #load(entry: Entry): Promise<void> {
    const { computes, log } = this.#options
    const { name: model } = entry.choice
    this.#set(entry, 'LOADING')
    try {
      await computes.load(entry.choice)
      entry.problem = ''
      this.#set(entry, 'LOADED')
      log.info({ model }, 'loaded a model')
    } catch (cause) {
      entry.problem = (cause as Error).message
      this.#set(entry, 'NOT_LOADED')
      log.warn({ model, err: cause }, 'a model could not be loaded')
      throw new CallRefusal('FAILED_PRECONDITION', entry.problem, { cause })
    } finally {
      entry.loading = null
    }
  }

  #assertMayUnload({ choice, state }: Entry): void {
    const { folders, computes } = this.#options
    const { name } = choice
    const refuse = (why: string) => new CallRefusal('FAILED_PRECONDITION', why)
    if (isBuiltIn(choice, folders)) throw refuse(`${name} came with Winnow: it stays loaded.`)
    if (!computes.canUnload(name)) {
      throw refuse(
        `On a GPU ${name} shares its memory with the others: remove it, or name the others in ` +
          'MODELS, and restart the engine.',
      )
    }
    if (state === 'LOADED' && this.#descriptions.length === 1) {
      throw refuse(`${name} is the only model that is loaded: load another first.`)
    }
  }

  #set(entry: Entry, state: ModelState): void {
    entry.state = state
    this.#wake()
    const loaded = this.#loaded()
    const before = this.#descriptions
    if (loaded.length === before.length && loaded.every((model, i) => model === before[i])) return
    this.#descriptions = loaded
    this.#version += 1
    this.#options.onChange()
  }

  #wake(): void {
    const waiting = this.#waiting
    this.#waiting = []
    for (const look of waiting) look()
  }

  /** Models for new jobs, the preferred one first. */
  #loaded(): ModelDescription[] {
    const described = new Map(
      this.#options.computes.models.map(({ description }) => [description.name, description]),
    )
    return [...this.#entries.values()]
      .filter(({ state }) => state === 'LOADED')
      .sort((a, b) => a.rank - b.rank)
      .flatMap(({ choice }) => described.get(choice.name) ?? [])
  }

  /** First in the order of the settings, then in that of `availableChoices`. */
  #rankOf(choice: ModelChoice): number {
    const { namedModels } = this.#options
    const named = namedModels.findIndex(({ name }) => name === choice.name)
    return named < 0 ? rankOf(choice) : named - namedModels.length
  }

  /** Each model once, in order of preference; the files of a loaded one may be gone. */
  #choices(): ModelChoice[] {
    const { namedModels, folders } = this.#options
    const held = [...this.#entries.values()]
      .filter(({ state }) => state !== 'NOT_LOADED')
      .map(({ choice }) => choice)
    const named = namedModels.filter(isThere)
    const choices = [...named, ...availableChoices(folders), ...held]
    // What the engine holds takes precedence.
    const byName = new Map(choices.map((choice) => [choice.name, choice]))
    return [...byName.values()]
  }

  #choiceOf(name: string): ModelChoice {
    const choices = this.#choices()
    const choice = choices.find((candidate) => candidate.name === name)
    if (choice) return choice
    const names = choices.map((candidate) => candidate.name).join(', ')
    throw new CallRefusal('NOT_FOUND', `No model "${name}" is installed here, only ${names}.`)
  }

  #entryOf(choice: ModelChoice): Entry {
    const current = this.#entries.get(choice.name)
    if (current && current.state !== 'NOT_LOADED') return current
    const fresh = { state: 'NOT_LOADED', problem: '', uses: 0, loading: null } as const
    const entry: Entry = { ...fresh, choice, facts: factsOf(choice), rank: this.#rankOf(choice) }
    this.#entries.set(choice.name, entry)
    return entry
  }
}

export const describeModel = (model: ModelDescription): DescribedModel => ({
  name: model.name,
  answers: model.answers,
  stems: [...model.stems],
  names: [...(model.names ?? [])],
  summary: model.summary,
  parameters: model.parameters,
  weights_sha256: model.weightsSha256,
  sample_rate: model.sampleRate ?? 0,
  channels_max: CHANNELS_MAX,
  chunk_seconds_max: model.chunkSecondsMax,
  gives_candidates: model.givesCandidates,
  predicts_spans: model.predictsSpans,
  precision: model.precision,
})
