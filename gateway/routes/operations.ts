import type { FastifyInstance } from 'fastify'
import type { Deps } from '../deps.ts'
import { hasApiKeys } from '../store/api-keys.ts'

/** Extension, without a key: is the process alive, and can it take requests? */
export function operationsRoutes(app: FastifyInstance, { store, broker }: Deps): void {
  app.get('/healthz', { schema: { hide: true } }, async () => ({ status: 'ok' }))
  app.get('/readyz', { schema: { hide: true } }, async (_request, reply) => {
    const database = await hasApiKeys(store).catch(() => false)
    const ready = database && broker.isConnected()
    return reply.status(ready ? 200 : 503)
      .send({ status: ready ? 'ready' : 'unavailable', database, broker: broker.isConnected() })
  })
}
