import type { FastifyInstance } from 'fastify'
import { responses } from '../api/openapi.ts'
import { QueueStatusResponse } from '../api/schemas.ts'
import {
  cancel,
  findOwn,
  statusOf,
  type CancelDeps,
  type StatusDeps,
} from '../requests/own-requests.ts'
import { requestParams, type RequestParams } from './parameters.ts'

/** Extension: ends a request that is not finished. */
export function cancelRoute(app: FastifyInstance, deps: CancelDeps & StatusDeps): void {
  app.put<{ Params: RequestParams }>(
    '/v1/queue/requests/:request_id/cancel',
    {
      config: { scope: 'audio:separate' },
      schema: {
        operationId: 'cancelRequest',
        summary: 'Cancel a request; it ends as FAILED with the code CANCELED',
        description:
          'Extension. A queued request is removed from the queue; one in progress stops within a ' +
          'second or two.',
        tags: ['queue'],
        params: requestParams,
        response: responses({ 202: QueueStatusResponse }, [401, 403, 404, 'REQUEST_FINISHED', 500]),
      },
    },
    async (request, reply) => {
      const row = await findOwn(deps, request.accountId, request.params.request_id)
      const canceled = await cancel(deps, row)
      return reply.status(202).send(await statusOf(deps, canceled))
    },
  )
}
