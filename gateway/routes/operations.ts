import type { FastifyInstance } from 'fastify'
import { createReadiness, type ReadinessDeps } from '../operations/readiness.ts'

/**
 * Extension, without a key: tells whether the process is alive, and whether it can take requests.
 */
export function operationsRoutes(app: FastifyInstance, deps: ReadinessDeps): void {
  const readiness = createReadiness(deps)
  app.get('/healthz', { schema: { hide: true } }, async () => ({ status: 'ok' }))
  app.get('/readyz', { schema: { hide: true } }, async (_request, reply) => {
    const state = await readiness()
    return reply.status(state.status === 'unavailable' ? 503 : 200).send(state)
  })
}
