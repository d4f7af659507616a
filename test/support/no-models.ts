/** Calls of admins to an engine that does nothing with models. */

import type { ModelClient } from '../../gateway/operations/engine-registry.ts'

const refuse = () => Promise.reject(new Error('not there'))

export const NO_MODELS: ModelClient = {
  listModels: refuse,
  listCatalogue: refuse,
  fetchModel: refuse,
  loadModel: refuse,
  unloadModel: refuse,
  removeModel: refuse,
}
