/** Keeps answers out of caches: those of an account have secrets, signed addresses or its data. */

import type { FastifyInstance } from 'fastify'

/** To be installed before the routes whose answers nobody may store. */
export function forbidStoring(app: FastifyInstance): void {
  app.addHook('onRequest', async (_request, reply) => {
    reply.header('cache-control', 'no-store')
  })
}
