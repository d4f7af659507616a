/**
 * Before a gateway stops, it asks clients to close their connections: a connection that is cut
 * while a request is on its way breaks that request.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'

export interface ConnectionDraining {
  /** From now on each answer is the last one of its connection; resolves after `ms`. */
  begin(ms: number): Promise<void>
}

export function installConnectionDraining(app: FastifyInstance): ConnectionDraining {
  let isParting = false
  // On the server itself: hooks can't be added to an application that is ready.
  app.server.prependListener('request', (_request, answer) => {
    if (isParting) answer.setHeader('connection', 'close')
  })
  return {
    async begin(ms) {
      isParting = true
      await sleep(ms)
    },
  }
}
