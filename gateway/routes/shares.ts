import type { FastifyInstance } from 'fastify'
import { assertAllowed, type RateLimiter } from '../accounts/rate-limit.ts'
import { bearerToken } from '../accounts/auth.ts'
import { responses, retryResponses } from '../api/openapi.ts'
import {
  checkCreateShare,
  CreateShareRequest,
  NewShare,
  SharedResult,
  ShareList,
} from '../api/share-schemas.ts'
import {
  createShare,
  openShare,
  ownShares,
  revokeShare,
  sharedResult,
  SHARES_MAX,
  type ShareDeps,
  type SharedResultDeps,
} from '../requests/shares.ts'
import { type RequestRoute } from './common.ts'
import type { Logger } from '../../shared/telemetry/log.ts'

interface LogDeps {
  log: Logger
}

/** Extensions: create, list and revoke addresses that play a result without a key. */
export function shareRoutes(app: FastifyInstance, deps: ShareDeps & LogDeps): void {
  createRoute(app, deps)
  listRoute(app, deps)
  revokeRoute(app, deps)
}

function createRoute(app: FastifyInstance, deps: ShareDeps & LogDeps): void {
  app.post<RequestRoute>(
    '/v1/queue/requests/:request_id/shares',
    {
      config: { scope: 'audio:separate' },
      schema: {
        operationId: 'createShare',
        summary: 'Share a result',
        description:
          'Extension. Creates an address that plays the result in a browser, without a key, ' +
          `until a date. A request can have ${SHARES_MAX.perRequest} active shares, an account ` +
          `${SHARES_MAX.perAccount}.`,
        tags: ['queue'],
        body: CreateShareRequest,
        response: responses({ 201: NewShare }, [400, 404, 'RESULT_NOT_READY', 'REQUEST_FAILED']),
      },
    },
    async ({ accountId, apiKey, params, body, id: callId }, reply) => {
      const { expires_in: seconds } = checkCreateShare(body ?? {})
      const share = await createShare(deps, accountId, params.request_id, seconds)
      const { share_id: shareId, request_id: requestId, expires_at: expiresAt } = share
      const caller = { callId, accountId, keyId: apiKey.key_id }
      deps.log.info({ ...caller, shareId, requestId, expiresAt }, 'shared a result')
      return reply.status(201).send(share)
    },
  )
}

function listRoute(app: FastifyInstance, deps: ShareDeps): void {
  app.get(
    '/v1/shares',
    {
      config: { scope: 'audio:separate' },
      schema: {
        operationId: 'listShares',
        summary: 'List your shares, newest first',
        description: 'Extension. Active shares only, without their secrets.',
        tags: ['queue'],
        response: responses({ 200: ShareList }),
      },
    },
    async ({ accountId }) => ownShares(deps, accountId),
  )
}

function revokeRoute(app: FastifyInstance, deps: ShareDeps & LogDeps): void {
  app.delete<{ Params: { share_id: string } }>(
    '/v1/shares/:share_id',
    {
      config: { scope: 'audio:separate' },
      schema: {
        operationId: 'revokeShare',
        summary: 'Revoke a share',
        description:
          'Extension. Its address shows nothing from then on. Media addresses that somebody has ' +
          'already read stay valid for an hour plus the length of the media.',
        tags: ['queue'],
        response: responses({ 204: { type: 'null', description: 'It is revoked.' } }, [404]),
      },
    },
    async ({ accountId, apiKey, params, id: callId }, reply) => {
      const share = await revokeShare(deps, accountId, params.share_id)
      const { share_id: shareId, request_id: requestId } = share
      const caller = { callId, accountId, keyId: apiKey.key_id }
      deps.log.info({ ...caller, shareId, requestId }, 'revoked a share')
      return reply.status(204).send()
    },
  )
}

/** Extension: a shared result, for whoever has its secret. */
export function sharedRoute(
  app: FastifyInstance,
  deps: SharedResultDeps & LogDeps & { rateLimiter: Pick<RateLimiter, 'count'> },
): void {
  app.get(
    '/v1/shared',
    {
      schema: {
        operationId: 'getShared',
        summary: 'Get a shared result',
        description:
          'Extension. Needs no API key: the bearer token is the secret of a share, `shr_…`, from ' +
          'the fragment of its address.',
        tags: ['queue'],
        security: [{ shareSecret: [] }],
        response: { ...responses({ 200: SharedResult }, [401, 404, 500]), ...retryResponses() },
      },
    },
    async ({ headers, client, id: callId }, reply) => {
      const share = await openShare(deps, bearerToken(headers.authorization))
      assertAllowed(await deps.rateLimiter.count(share.share_id), 'A share')
      const result = await sharedResult(deps, share)
      const { share_id: shareId, account_id: accountId } = share
      deps.log.info({ callId, shareId, accountId, client }, 'answered a shared result')
      return reply.header('cache-control', 'no-store').send(result)
    },
  )
}
