import type { FastifyInstance } from 'fastify'
import { responses } from '../api/openapi.ts'
import { WebhookDeliveryStatus } from '../api/schemas.ts'
import { findOwn } from '../requests/own-requests.ts'
import { redeliver, type RedeliveryDeps } from '../webhooks/delivery-status.ts'
import { requestParams, type RequestParams } from './parameters.ts'

/** Extension: sends the webhook of a finished request again. */
export function redeliverRoute(app: FastifyInstance, deps: RedeliveryDeps): void {
  app.post<{ Params: RequestParams }>(
    '/v1/queue/requests/:request_id/webhook/redeliver',
    {
      config: { scope: 'audio:separate' },
      schema: {
        operationId: 'redeliverWebhook',
        summary: 'Send the webhook of a finished request again, with the same id and body',
        description:
          'Extension. Its attempts start over, whether it was delivered or failed. If it is ' +
          'being sent, that goes on as the first attempt.',
        tags: ['queue'],
        params: requestParams,
        response: responses({ 202: WebhookDeliveryStatus }, [
          401,
          403,
          404,
          'RESULT_NOT_READY',
          500,
        ]),
      },
    },
    async (request, reply) => {
      const row = await findOwn(deps, request.accountId, request.params.request_id)
      return reply.status(202).send(await redeliver(deps, row))
    },
  )
}
