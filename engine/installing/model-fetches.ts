/** What an engine fetches to, and removes from, the folder of installed models. */

import { constants } from 'node:fs'
import { access } from 'node:fs/promises'
import { join } from 'node:path'
import { isInstalled } from '../../models/installed/record.ts'
import type { CatalogueModel, InstalledModel } from '../../shared/engine-control.ts'
import { makeFolder } from '../../shared/process/make-folder.ts'
import { CallRefusal } from '../call-refusal.ts'
import { CATALOGUE, type CatalogueEntry } from './catalogue.ts'
import { removeDownloads, removeModel } from './installed-folder.ts'
import { ModelFetch } from './model-fetch.ts'

/** How many models are fetched at once; a conversion takes twice the size of a model in memory. */
const FETCHES_MAX = 2

interface ModelFetchesOptions {
  /** The folder in which models are installed. */
  folder: string
  /** Environment of the processes that fetch. */
  environment: NodeJS.ProcessEnv
  /** Replaced in tests. */
  catalogue?: readonly CatalogueEntry[]
  /** Models named by the settings, without which the engine would not start again. */
  named: readonly string[]
  models: {
    list(): Pick<InstalledModel, 'name' | 'built_in'>[]
    unload(name: string): Promise<void>
  }
}

export class ModelFetches {
  readonly #options: ModelFetchesOptions
  readonly #catalogue: readonly CatalogueEntry[]
  /** The latest fetch of each model since this process started. */
  readonly #fetches = new Map<string, ModelFetch>()

  constructor(options: ModelFetchesOptions) {
    const { catalogue = CATALOGUE } = options
    this.#options = options
    this.#catalogue = catalogue
  }

  /** Lists the models of the catalogue, with the progress of their fetches. */
  list(): CatalogueModel[] {
    return this.#catalogue.map((entry) => {
      const progress = this.#fetches.get(entry.name)?.progress
      return {
        name: entry.name,
        kind: entry.kind,
        summary: entry.summary,
        megabytes: entry.megabytes,
        licence: entry.licence.weights,
        licence_word: entry.licence.word,
        licence_url: entry.licence.url,
        licence_question: !entry.isFreeToUse,
        source: entry.files[0]!.url,
        built_in: entry.isBuiltIn === true,
        fetch: progress && progress.state !== 'INSTALLED' ? progress : null,
      }
    })
  }

  /**
   * Starts to fetch a model, or joins the fetch in progress; null if it is already installed.
   * @throws CallRefusal
   */
  async fetch(name: string, licenceAccepted: boolean): Promise<ModelFetch | null> {
    const entry = this.#entryOf(name)
    const { folder, environment } = this.#options
    if (isInstalled(join(folder, name))) return null
    if (!entry.isFreeToUse && !licenceAccepted) throw new CallRefusal(...notAccepted(entry))
    await this.#assertWritable(`fetch ${name}`)
    const last = this.#fetches.get(name)
    if (last && !last.hasEnded) return last
    const running = [...this.#fetches].filter(([, fetch]) => !fetch.hasEnded)
    if (running.length >= FETCHES_MAX) {
      const names = running.map(([model]) => model).join(' and ')
      const message = `This engine is fetching ${names}: fetch ${name} when one of them is done.`
      throw new CallRefusal('FAILED_PRECONDITION', message)
    }
    const fetch = new ModelFetch({ folder, entry }, environment)
    this.#fetches.set(name, fetch)
    return fetch
  }

  /**
   * Unloads and removes an installed model, or stops its fetch and removes the downloads.
   * @throws CallRefusal
   */
  async remove(name: string): Promise<void> {
    const { folder, models } = this.#options
    this.#assertRemovable(name)
    const fetch = this.#fetches.get(name)
    if (!fetch && !isInstalled(join(folder, name))) {
      throw new CallRefusal('NOT_FOUND', `No model "${name}" is installed in ${folder}.`)
    }
    await this.#assertWritable(`remove ${name}`)
    await fetch?.stop()
    this.#fetches.delete(name)
    await removeDownloads(folder, name)
    if (!isInstalled(join(folder, name))) return
    await models.unload(name).catch((cause: Error) => {
      const hint = `To remove it, run on the engine's host: winnow model remove ${name}`
      throw new CallRefusal('FAILED_PRECONDITION', `${cause.message} ${hint}`, { cause })
    })
    // Another engine may have removed it in the meantime.
    if (isInstalled(join(folder, name))) await removeModel(folder, name)
  }

  /** @throws CallRefusal naming the known models */
  #entryOf(name: string): CatalogueEntry {
    const fetchable = this.#catalogue.filter(({ isBuiltIn }) => !isBuiltIn) // set-up fetches those
    const entry = fetchable.find((candidate) => candidate.name === name)
    if (entry) return entry
    const names = fetchable.map((candidate) => candidate.name).join(', ')
    throw new CallRefusal('NOT_FOUND', `No model "${name}" can be fetched, only ${names}.`)
  }

  #assertRemovable(name: string): void {
    const { named, models } = this.#options
    if (models.list().some((model) => model.name === name && model.built_in)) {
      throw new CallRefusal('FAILED_PRECONDITION', `${name} came with Winnow: it can't be removed.`)
    }
    if (!named.includes(name)) return
    const message =
      `The setting MODELS of this engine names ${name}, and without it the engine would not ` +
      'start again: remove it from MODELS, and restart the engine.'
    throw new CallRefusal('FAILED_PRECONDITION', message)
  }

  /** @param command what an admin of the host can run instead */
  async #assertWritable(command: string): Promise<void> {
    const { folder } = this.#options
    try {
      await makeFolder(folder)
      await access(folder, constants.W_OK)
    } catch (cause) {
      const message =
        `This engine can't write ${folder} (${(cause as Error).message}). On its host run: ` +
        `sudo MODELS_DIR=${folder} winnow model ${command}`
      throw new CallRefusal('FAILED_PRECONDITION', message, { cause })
    }
  }
}

const notAccepted = ({ name, licence }: CatalogueEntry) =>
  [
    'FAILED_PRECONDITION',
    `The licence of ${name} must be accepted first: ${licence.weights} See ${licence.url}.`,
  ] as const
