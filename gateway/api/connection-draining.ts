/**
 * Asks clients to close their connections before a gateway stops, because cutting a connection
 * while a request is on its way breaks that request.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'

export interface ConnectionDraining {
  /** Makes each answer from now on the last one of its connection. Resolves after `ms`. */
  begin(ms: number): Promise<void>
}

export function installConnectionDraining(app: FastifyInstance): ConnectionDraining {
  let isParting = false
  // On the server itself, because hooks cannot be added to an application that is ready.
  app.server.prependListener('request', (_request, response) => {
    if (isParting) response.setHeader('connection', 'close')
  })
  return {
    async begin(ms) {
      isParting = true
      await sleep(ms)
    },
  }
}
