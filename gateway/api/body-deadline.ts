/** Refuses bodies that are incomplete at a deadline. */

import { PassThrough } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import { ServiceError } from '../../shared/errors.ts'

const FORM = /^multipart\/form-data\b/i

/**
 * Limits the time for a whole body, for the routes that are added after it. Forms carry files, so
 * they have deadlines of their own (form.ts).
 */
export function installBodyDeadline(app: FastifyInstance, secondsMax: number): void {
  app.addHook('preParsing', async ({ headers }, reply, payload) => {
    if (!headers['content-length'] && !headers['transfer-encoding']) return payload
    if (FORM.test(headers['content-type'] ?? '')) return payload
    const timely = new PassThrough()
    const timer = setTimeout(() => timely.destroy(incompleteBody(secondsMax)), 1_000 * secondsMax)
    timely.once('close', () => clearTimeout(timer))
    timely.on('error', () => undefined) // a body of a refused type is not read
    reply.raw.once('close', () => timely.destroy())
    // Not with `pipeline`, which would close the connection on which the answer is to go.
    payload.once('error', (error) => timely.destroy(error))
    return payload.pipe(timely)
  })
}

/** Creates the refusal of a body that is incomplete after this many seconds. */
export const incompleteBody = (seconds: number) =>
  new ServiceError('INVALID_REQUEST', {
    message: `The body was incomplete after ${seconds} seconds; send it again.`,
  })
