import type { FastifyInstance } from 'fastify'
import { buildOpenApi, responses } from '../api/openapi.ts'
import type { Deps } from '../deps.ts'

/** Endpoint 1: the API description. */
export function openApiRoute(app: FastifyInstance, { config }: Pick<Deps, 'config'>): void {
  let document: unknown
  app.get(
    '/v1/openapi.json',
    {
      schema: {
        operationId: 'getOpenApi',
        summary: 'This description',
        description: 'OpenAPI 3.1, version 1.0.0; needs no key.',
        tags: ['description'],
        security: [],
        response: responses({ 200: { type: 'object', description: 'OpenAPI 3.1' } }, []),
      },
    },
    async () => (document ??= { servers: [{ url: config.publicUrl() }], ...buildOpenApi(app) }),
  )
}
