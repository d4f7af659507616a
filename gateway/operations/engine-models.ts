/**
 * Shows and changes the models of engines, and drains engines, for admins. The engines hold the
 * truth, so every gateway shows and changes the same models.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import { MINUTE_MS } from '../../shared/durations.ts'
import {
  engineProblem,
  type CatalogueModel,
  type FetchProgress,
  type InstalledModel,
} from '../../shared/engine-control.ts'
import { ServiceError } from '../../shared/errors.ts'
import { record, type AccountDeps, type ChangeDeps } from '../accounts/accounts.ts'
import type { NewChange } from '../store/changes.ts'
import type { EngineAnswer, EngineClient, EngineRegistry } from './engine-registry.ts'
import type {
  AdminModel,
  ChangeModelRequest,
  DrainedEngine,
  EngineModel,
  FetchModelRequest,
} from './model-schemas.ts'
import type { Logger } from '../../shared/telemetry/log.ts'

interface ReadDeps {
  engineRegistry: EngineRegistry
}

export interface EngineModelDeps extends ReadDeps, AccountDeps {
  log: Logger
}

type ModelDeps = EngineModelDeps & ChangeDeps

/** How long a call waits for engines. Work that takes longer goes on, and the list shows it. */
const ANSWER_MS_MAX = 2_000

interface EngineLists {
  installed: InstalledModel[]
  catalogue: CatalogueModel[]
}

/**
 * Returns the models of all engines that answer: first those that engines have, in order of
 * preference, then those that could be fetched.
 */
export async function listEngineModels({ engineRegistry }: ReadDeps): Promise<AdminModel[]> {
  const answers = await engineRegistry.askEach(listsOf)
  const lists = answers.flatMap(({ engineId, answer }) =>
    answer.status === 'fulfilled' ? [{ engineId, ...answer.value }] : [],
  )
  const installedNames = lists.flatMap(({ installed }) => installed.map(({ name }) => name))
  const fetchableNames = lists.flatMap(({ catalogue }) =>
    catalogue.filter((model) => !model.built_in).map(({ name }) => name),
  )
  return [...new Set([...installedNames, ...fetchableNames])].map((name) =>
    presentModel(name, lists),
  )
}

const listsOf = async (client: EngineClient): Promise<EngineLists> => {
  const [installed, catalogue] = await Promise.all([client.listModels(), client.listCatalogue()])
  return { installed, catalogue }
}

function presentModel(
  name: string,
  lists: readonly (EngineLists & { engineId: string })[],
): AdminModel {
  const find = <T extends { name: string }>(models: readonly T[]) =>
    models.find((model) => model.name === name)
  const catalogued = find(lists.flatMap(({ catalogue }) => catalogue))
  const installed = find(lists.flatMap((list) => list.installed))
  return {
    name,
    summary: catalogued?.summary ?? null,
    built_in: installed?.built_in ?? false,
    megabytes: catalogued?.megabytes ?? null,
    licence_word: catalogued?.licence_word ?? null,
    licence: catalogued?.licence ?? installed?.licence ?? '',
    licence_url: catalogued?.licence_url ?? null,
    licence_question: catalogued?.licence_question ?? false,
    source: catalogued?.source ?? null,
    engines: lists.flatMap((list) =>
      presentOn(list.engineId, find(list.installed), find(list.catalogue)),
    ),
  }
}

/** Returns nothing if the engine neither has the model nor can fetch it. */
function presentOn(
  engineId: string,
  installed: InstalledModel | undefined,
  catalogued: CatalogueModel | undefined,
): EngineModel[] {
  const model = { engine_id: engineId, bytes: null, bytes_total: null }
  if (installed) {
    return [{ ...model, state: installed.state, problem: installed.problem || null }]
  }
  if (!catalogued || catalogued.built_in) return []
  const { fetch } = catalogued
  if (!fetch) return [{ ...model, state: 'FETCHABLE', problem: null }]
  return [{ ...model, ...presentFetch(fetch), problem: fetch.problem || null }]
}

function presentFetch({ state, bytes, bytes_total }: FetchProgress) {
  if (state === 'FAILED' || state === 'INSTALLED') return { state: 'FETCHABLE' as const }
  return { state, bytes, bytes_total }
}

/**
 * Makes engines fetch a model. A fetch goes on as long as this gateway follows it, which is until
 * it ends.
 * @throws ServiceError `NOT_FOUND` if no engine knows the model; `INVALID_PARAMETER` if its licence
 *   must be accepted; what `outcome` throws
 */
export async function fetchModel(
  deps: ModelDeps,
  name: string,
  { engine_id: engineId, licence_accepted: accepted = false }: FetchModelRequest,
): Promise<AdminModel> {
  const catalogued = await findFetchable(deps, name, engineId)
  if (catalogued.licence_question && !accepted) {
    const message =
      `The licence of ${name}: ${catalogued.licence} See ${catalogued.licence_url}. ` +
      'To accept it, send licence_accepted as true.'
    throw new ServiceError('INVALID_PARAMETER', { message, param: 'licence_accepted' })
  }
  const begin = (_client: EngineClient, id: string) => followFetch(deps, id, name, accepted)
  const answers = await deps.engineRegistry.askEach(begin, engineId)
  const details = { ...(catalogued.licence_question && { licence_accepted: true }) }
  return outcome(deps, { action: 'model.fetch', name, engineId, details }, answers)
}

async function findFetchable(
  deps: ModelDeps,
  name: string,
  engineId: string | undefined,
): Promise<CatalogueModel> {
  const answers = await deps.engineRegistry.askEach((client) => client.listCatalogue(), engineId)
  const lists = answers.flatMap(({ answer }) =>
    answer.status === 'fulfilled' ? [answer.value.filter((model) => !model.built_in)] : [],
  )
  if (lists.length === 0) throw await noEngine(deps, engineId, answers)
  const models = lists.flat()
  const model = models.find((model) => model.name === name)
  if (model) return model
  const names = [...new Set(models.map((model) => model.name))].join(', ')
  const message = `There is no model ${name} to fetch, only ${names}.`
  throw new ServiceError('NOT_FOUND', { message })
}

/**
 * Makes an engine fetch a model, over a connection that lasts as long as the fetch. Resolves once
 * the engine has begun.
 */
async function followFetch(
  { engineRegistry, log }: ModelDeps,
  engineId: string,
  name: string,
  accepted: boolean,
): Promise<void> {
  const client = await engineRegistry.connectTo(engineId)
  try {
    const { ended } = await client.fetchModel(name, accepted)
    ended
      .then(
        (end) => log.info({ engineId, model: name, ...end }, 'a fetch of a model ended'),
        (err: unknown) => log.warn({ engineId, model: name, err }, 'a fetch of a model was lost'),
      )
      .finally(() => client.close())
  } catch (error) {
    client.close()
    throw error
  }
}

/**
 * Makes engines load or unload an installed model.
 * @throws ServiceError like `outcome`
 */
export async function changeModel(
  deps: ModelDeps,
  change: 'load' | 'unload',
  name: string,
  { engine_id: engineId }: ChangeModelRequest,
) {
  const ask = (client: EngineClient) =>
    briefly(change === 'load' ? client.loadModel(name) : client.unloadModel(name))
  const answers = await deps.engineRegistry.askEach(ask, engineId)
  return outcome(deps, { action: `model.${change}`, name, engineId }, answers)
}

/**
 * Makes engines unload a model and remove it from their disks, or stop its fetch. Engines on one
 * host may share the folder, so all of them unload it first.
 * @throws ServiceError like `outcome`
 */
export async function removeModel(
  deps: ModelDeps,
  name: string,
  { engine_id: engineId }: ChangeModelRequest,
) {
  const unloaded = deps.engineRegistry.askEach(async (client) => {
    const held = (await client.listModels()).find((model) => model.name === name)
    if (held && !held.built_in && held.state !== 'NOT_LOADED') await client.unloadModel(name)
  }, engineId)
  const remove = async (client: EngineClient) => {
    await unloaded
    await client.removeModel(name)
  }
  const answers = await deps.engineRegistry.askEach((client) => briefly(remove(client)), engineId)
  return outcome(deps, { action: 'model.remove', name, engineId }, answers)
}

/** Resolves when the work is done, or after `ANSWER_MS_MAX` while it goes on. */
async function briefly(work: Promise<unknown>): Promise<void> {
  const late = new AbortController()
  const { signal } = late
  work.catch(() => undefined) // if it fails later, the engine reports that
  const waited = sleep(ANSWER_MS_MAX, undefined, { signal }).catch(() => undefined)
  await Promise.race([work, waited]).finally(() => late.abort())
}

interface ModelChange {
  action: NewChange['action']
  name: string
  engineId: string | undefined
  details?: NewChange['details']
}

/**
 * Records a change that an engine has accepted, and returns the model as it is now.
 * @throws ServiceError if no engine has: `NOT_FOUND`, `MODEL_CONFLICT` with the reason, or
 *   `SERVICE_UNAVAILABLE`
 */
async function outcome(
  deps: ModelDeps,
  { action, name, engineId, details = {} }: ModelChange,
  answers: readonly EngineAnswer<void>[],
): Promise<AdminModel> {
  const accepted = answers.filter(({ answer }) => answer.status === 'fulfilled')
  if (accepted.length === 0) throw await noEngine(deps, engineId, answers)
  const engine_ids = accepted.map(({ engineId }) => engineId)
  await record(deps, action, {}, { model: name, engine_ids, ...details })
  const models = await listEngineModels(deps)
  return models.find((model) => model.name === name) ?? presentModel(name, [])
}

/** Returns why no engine has made a change. */
async function noEngine(
  { engineRegistry }: ReadDeps,
  engineId: string | undefined,
  answers: readonly EngineAnswer<unknown>[],
): Promise<ServiceError> {
  const problems = answers.flatMap(({ engineId: id, answer }) =>
    answer.status === 'rejected' ? [{ id, ...engineProblem(answer.reason) }] : [],
  )
  const problemOf = (kind: string) => problems.find((problem) => problem.kind === kind)
  const refused = problemOf('refused') ?? problemOf('old')
  if (refused) {
    return new ServiceError('MODEL_CONFLICT', { message: `${refused.id}: ${refused.message}` })
  }
  const missing = problemOf('not found')
  if (missing) return new ServiceError('NOT_FOUND', { message: missing.message })
  const engines = (await engineRegistry.describe()).map((engine) => engine.engine_id)
  if (engineId !== undefined && engines.length > 0 && !engines.includes(engineId)) {
    const message = `There is no engine ${engineId}, only ${engines.join(', ')}.`
    return new ServiceError('NOT_FOUND', { message, param: 'engine_id' })
  }
  const message = 'No engine answers: start one, and look at `winnow doctor`.'
  return new ServiceError('SERVICE_UNAVAILABLE', { message })
}

/** Jobs that take longer go back to the queue. */
const DRAIN_MS = 10 * MINUTE_MS

/**
 * Makes an engine finish its jobs and take no more until it is started again.
 * @throws ServiceError `NOT_FOUND`, or `SERVICE_UNAVAILABLE` if the engine does not answer
 */
export async function drainEngine(deps: ModelDeps, engineId: string): Promise<DrainedEngine> {
  const answers = await deps.engineRegistry.askEach(async (client) => {
    await briefly(client.drain(DRAIN_MS))
    const { state } = await client.stats() // an engine that hangs has not begun
    if (state !== 'DRAINING') throw new Error(`the engine is ${state}`)
  }, engineId)
  const isDraining = answers.some(({ answer }) => answer.status === 'fulfilled')
  if (!isDraining) throw await noEngine(deps, engineId, answers)
  await record(deps, 'engine.drain', {}, { engine_ids: [engineId] })
  return { engine_id: engineId, state: 'DRAINING' }
}
