/** The models of an engine: those that it holds, and those that it could load. */

import { factsOf } from '../models/installed/facts.ts'
import {
  availableChoices,
  isBuiltIn,
  type ModelChoice,
  type ModelFolders,
} from '../models/model-choice.ts'
import { CHANNELS_MAX, type ModelDescription } from '../models/model.ts'
import type { DescribedModel, InstalledModel } from '../shared/engine-control.ts'
import { ModelRefusal } from './model-refusal.ts'

interface EngineModelsOptions {
  folders: ModelFolders
  /** The models that it was started with, the preferred first. */
  choices: readonly ModelChoice[]
  descriptions: readonly ModelDescription[]
}

export class EngineModels {
  readonly #options: EngineModelsOptions

  constructor(options: EngineModelsOptions) {
    this.#options = options
  }

  /** What it holds, or could load, in order of preference. */
  list(): InstalledModel[] {
    const { folders } = this.#options
    return this.#choices().map((choice) => ({
      name: choice.name,
      built_in: isBuiltIn(choice, folders),
      state: this.#held(choice.name) ? 'LOADED' : 'NOT_LOADED',
      problem: '',
      ...factsOf(choice),
    }))
  }

  /** @throws ModelRefusal */
  async load(name: string): Promise<DescribedModel> {
    this.#choiceOf(name)
    const held = this.#held(name)
    if (held) return describeModel(held)
    throw new ModelRefusal('FAILED_PRECONDITION', `Start the engine anew, which loads ${name}.`)
  }

  /** @throws ModelRefusal */
  async unload(name: string): Promise<void> {
    if (isBuiltIn(this.#choiceOf(name), this.#options.folders)) {
      throw new ModelRefusal('FAILED_PRECONDITION', `${name} came with Winnow: it stays loaded.`)
    }
    if (!this.#held(name)) return
    const message = `Start the engine anew with MODELS naming all but ${name}.`
    throw new ModelRefusal('FAILED_PRECONDITION', message)
  }

  /** Those that the settings name come first; what is installed meanwhile follows. */
  #choices(): ModelChoice[] {
    const { choices, folders } = this.#options
    const named = choices.map(({ name }) => name)
    return [...choices, ...availableChoices(folders).filter(({ name }) => !named.includes(name))]
  }

  #choiceOf(name: string): ModelChoice {
    const choices = this.#choices()
    const choice = choices.find((each) => each.name === name)
    if (choice) return choice
    const names = choices.map((each) => each.name).join(', ')
    throw new ModelRefusal('NOT_FOUND', `No model "${name}" is installed here, only ${names}.`)
  }

  #held(name: string): ModelDescription | undefined {
    return this.#options.descriptions.find((description) => description.name === name)
  }
}

/** A model as gateways are told of it. */
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
