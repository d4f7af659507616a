/** A deadline for bodies: one that is incomplete by then is refused. */

import { PassThrough } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import { ServiceError } from '../../shared/errors.ts'

const FORM = /^multipart\/form-data\b/i

export interface BodyDeadline {
  /** For a complete JSON body; and the longest pause within an upload. */
  bodySecondsMax: number
}

/**
 * To be installed before the routes whose bodies it limits. Forms have files, and deadlines of
 * their own (form.ts).
 * @param secondsMax for a whole body
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
    // Without `pipeline`, which would close the connection on which the answer is to go.
    payload.once('error', (error) => timely.destroy(error))
    return payload.pipe(timely)
  })
}

/** The refusal of a body that is incomplete after so many seconds. */
export const incompleteBody = (seconds: number) =>
  new ServiceError('INVALID_REQUEST', {
    message: `The body was incomplete after ${seconds} seconds; send it again.`,
  })
