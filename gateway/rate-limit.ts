/** How often an API key may call, on this gateway. */

import rateLimit from '@fastify/rate-limit'
import type { FastifyInstance } from 'fastify'
import { ServiceError } from '../shared/errors.ts'

const MINUTE_MS = 60_000
/** Keys whose calls are counted at once; of more, those that called longest ago start anew. */
const KEYS_MAX = 10_000

/** To be installed after the authenticator, and before the routes that it is to limit. */
export async function installRateLimit(app: FastifyInstance, perMinute: number): Promise<void> {
  await app.register(rateLimit, {
    max: perMinute,
    timeWindow: MINUTE_MS,
    cache: KEYS_MAX,
    enableDraftSpec: true,
    keyGenerator: (request) => request.apiKeyId,
    errorResponseBuilder: (_request, { max, ttl }) => new ServiceError('RATE_LIMITED', {
      message: `This API key may call ${max} times in a minute; try again in ${
        Math.ceil(ttl / 1_000)} seconds.`,
      retryAfterSeconds: Math.ceil(ttl / 1_000),
    }),
  })
}
