/**
 * Lets web pages of the configured origins call the API with a key. Cookies are not allowed,
 * because the page's sessions and the admin API are only for their own origin.
 */

import type { FastifyInstance } from 'fastify'

/** Paths of the API and of media. */
const OPEN = /^\/(v1|media|uploads|fal)(\/|\?|$)/
const HEADERS = {
  'access-control-allow-methods': 'GET, HEAD, POST, PUT, PATCH, DELETE',
  'access-control-allow-headers':
    'authorization, content-type, idempotency-key, prefer, range, x-request-id, ' +
    'x-fal-target-url, x-fal-queue-priority, x-fal-runner-hint, x-fal-request-timeout, ' +
    'x-fal-object-lifecycle, x-fal-object-lifecycle-preference',
  'access-control-max-age': '600', // seconds
}
const EXPOSED =
  'content-disposition, content-range, preference-applied, ratelimit-limit, ' +
  'ratelimit-remaining, ratelimit-reset, retry-after, x-fal-request-id, x-request-id'

/** Allows origins such as `https://app.example.com`. Install it before all routes. */
export function installCors(app: FastifyInstance, origins: readonly string[]): void {
  if (origins.length === 0) return
  app.addHook('onRequest', async (request, reply) => {
    if (!OPEN.test(request.url)) return
    reply.header('vary', 'origin')
    const { origin } = request.headers
    if (origin === undefined || !origins.includes(origin)) return
    reply.header('access-control-allow-origin', origin)
    reply.header('access-control-expose-headers', EXPOSED)
    const isPreflight = 'access-control-request-method' in request.headers
    if (request.method === 'OPTIONS' && isPreflight)
      return reply.headers(HEADERS).status(204).send()
  })
}
