/** Model management calls of an engine that has no models to manage. */

import type { ModelClient } from '../../gateway/operations/engine-registry.ts'

const refuse = () => Promise.reject(new Error('not there'))

export const NO_MODELS: ModelClient = {
  listModels: refuse,
  listCatalogue: refuse,
  fetchModel: refuse,
  loadModel: refuse,
  unloadModel: refuse,
  removeModel: refuse,
  drain: refuse,
}
