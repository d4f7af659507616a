import type { FastifyInstance } from 'fastify'
import { createReadiness, type ReadinessDeps } from '../operations/readiness.ts'
import { hidden } from './common.ts'

/**
 * Extension, without a key: tells whether the process is alive, and whether it can take requests.
 */
export function operationsRoutes(app: FastifyInstance, deps: ReadinessDeps): void {
  const readiness = createReadiness(deps)
  app.get('/healthz', hidden, async () => ({ status: 'ok' }))
  app.get('/readyz', hidden, async (_request, reply) => {
    const state = await readiness()
    return reply.status(state.status === 'unavailable' ? 503 : 200).send(state)
  })
}
