/** A deadline for JSON bodies: one that is incomplete by then is refused. */

import { PassThrough } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import { ServiceError } from '../../shared/errors.ts'

/** To be installed before the routes whose bodies it limits. @param secondsMax for a whole body */
export function installBodyDeadline(app: FastifyInstance, secondsMax: number): void {
  app.addHook('preParsing', async ({ headers }, reply, payload) => {
    if (!headers['content-length'] && !headers['transfer-encoding']) return payload
    const timely = new PassThrough()
    const timer = setTimeout(() => timely.destroy(tooSlow(secondsMax)), 1_000 * secondsMax)
    timely.once('close', () => clearTimeout(timer))
    timely.on('error', () => undefined) // a body of a refused type is not read
    reply.raw.once('close', () => timely.destroy())
    // Without `pipeline`, which would close the connection on which the answer is to go.
    payload.once('error', (error) => timely.destroy(error))
    return payload.pipe(timely)
  })
}

const tooSlow = (seconds: number) =>
  new ServiceError('INVALID_REQUEST', {
    message: `The body was incomplete after ${seconds} seconds; send it again.`,
  })
