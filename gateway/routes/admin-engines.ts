import type { FastifyInstance } from 'fastify'
import { responses } from '../api/openapi.ts'
import { DrainedEngine, drainEngine } from '../operations/drain-engine.ts'
import type { EngineModelDeps } from '../operations/engine-models.ts'
import { authoredBy, describe } from './admin.ts'

/** Extension, for admins: drains engines. */
export function adminEngineRoutes(app: FastifyInstance, deps: EngineModelDeps): void {
  const authored = authoredBy(deps)
  app.post<{ Params: { engine_id: string } }>(
    '/admin/engines/:engine_id/drain',
    {
      schema: {
        ...describe('drainEngine', 'Let an engine end its jobs and take no more'),
        description:
          'Jobs that take longer than ten minutes go back to the queue. The engine stays ' +
          '`DRAINING` until it is started again.',
        response: responses({ 202: DrainedEngine }, [404, 503]),
      },
    },
    async (request, reply) =>
      reply.status(202).send(await drainEngine(authored(request), request.params.engine_id)),
  )
}
