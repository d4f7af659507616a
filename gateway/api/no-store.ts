/**
 * Keeps answers out of caches, because those of an account contain secrets, signed addresses or its
 * data.
 */

import type { FastifyInstance } from 'fastify'

/** Install it before the routes whose answers nobody may store. */
export function forbidStoring(app: FastifyInstance): void {
  app.addHook('onRequest', async (_request, reply) => {
    reply.header('cache-control', 'no-store')
  })
}
