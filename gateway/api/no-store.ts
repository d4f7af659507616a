/**
 * Keeps answers out of caches, because they may contain secrets, signed addresses or data of an
 * account.
 */

import type { FastifyInstance } from 'fastify'

/** Install it before the routes whose answers nobody may store. */
export function forbidStoring(app: FastifyInstance): void {
  app.addHook('onRequest', async (_request, reply) => {
    reply.header('cache-control', 'no-store')
  })
}
