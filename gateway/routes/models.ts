import type { FastifyInstance } from 'fastify'
import { responses } from '../api/openapi.ts'
import { presentModels } from '../requests/present/present-models.ts'
import { ModelList } from '../api/model-schemas.ts'
import type { EngineRegistry } from '../operations/engine-registry.ts'
import type { Settings } from '../config.ts'

interface ModelsDeps {
  engineRegistry: Pick<EngineRegistry, 'describe'>
  config: Settings<'encryptionKeys' | 'mediaSecondsMax'>
}

/** Endpoint 2: the API's only model, and the engines that serve it now. */
export function modelsRoute(app: FastifyInstance, { engineRegistry, config }: ModelsDeps): void {
  app.get(
    '/v1/models',
    {
      config: { scope: 'models:read' },
      schema: {
        operationId: 'listModels',
        summary: 'List the models',
        description:
          'The only API model is `audio/separate`; `input` and `output` are JSON Schemas. ' +
          '`separators` are the actual models, one of which answers each prompt.',
        tags: ['models'],
        response: responses({ 200: ModelList }),
      },
    },
    async () => presentModels(await engineRegistry.describe(), config),
  )
}
