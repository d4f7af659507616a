import type { FastifyInstance } from 'fastify'
import { responses } from '../api/openapi.ts'
import { DeliveryAttemptList } from '../api/schemas.ts'
import { WebhookAttemptList } from '../api/webhook-schemas.ts'
import { findOwn } from '../requests/own-requests.ts'
import {
  ATTEMPTS_KEPT_MAX,
  latestAttempts,
  REQUESTS_LOOKED_AT,
} from '../store/delivery-attempts.ts'
import { attemptsOf } from '../webhooks/delivery-status.ts'
import { requestParams, type RequestParams } from './parameters.ts'
import type { Store } from '../store/database.ts'

const LISTED_MAX = 50

/** Extension: the latest attempts to deliver webhooks of the account. */
export function latestAttemptsRoute(app: FastifyInstance, { store }: { store: Store }): void {
  app.get(
    '/v1/webhook-attempts',
    {
      config: { scope: 'audio:separate' },
      schema: {
        operationId: 'listWebhookAttempts',
        summary: 'List the latest attempts to deliver your webhooks, the latest first',
        description: `Extension. ${LISTED_MAX} at most, of ${REQUESTS_LOOKED_AT} requests.`,
        tags: ['queue'],
        response: responses({ 200: WebhookAttemptList }, [401, 403, 500]),
      },
    },
    async ({ accountId }) => ({
      object: 'list',
      data: await latestAttempts(store, LISTED_MAX, accountId),
    }),
  )
}

/** Extension: the outcome of each attempt to deliver the webhook of a request. */
export function deliveryAttemptsRoute(app: FastifyInstance, { store }: { store: Store }): void {
  app.get<{ Params: RequestParams }>(
    '/v1/queue/requests/:request_id/webhook/attempts',
    {
      config: { scope: 'audio:separate' },
      schema: {
        operationId: 'listDeliveryAttempts',
        summary: 'List the attempts to deliver the webhook of a request, oldest first',
        description:
          `Extension. The last ${ATTEMPTS_KEPT_MAX} attempts, including those before a ` +
          'redelivery; none before the request has ended. Attempts before version 0.3.0 are not ' +
          'listed.',
        tags: ['queue'],
        params: requestParams,
        response: responses({ 200: DeliveryAttemptList }, [401, 403, 404, 500]),
      },
    },
    async ({ accountId, params }) =>
      attemptsOf(store, await findOwn({ store }, accountId, params.request_id)),
  )
}
