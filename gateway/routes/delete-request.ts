import type { FastifyInstance } from 'fastify'
import { responses } from '../api/openapi.ts'
import { findOwn, remove, type RemoveDeps } from '../requests/own-requests.ts'
import { DELETED, requestParams, type RequestParams } from './parameters.ts'

/** Extension: removes a request and its outputs. */
export function deleteRequestRoute(app: FastifyInstance, deps: RemoveDeps): void {
  app.delete<{ Params: RequestParams }>(
    '/v1/queue/requests/:request_id',
    {
      config: { scope: 'audio:separate' },
      schema: {
        operationId: 'deleteRequest',
        summary: 'Delete a request and its outputs',
        description:
          'Extension. A request in progress is canceled first. From then on the request is ' +
          'unknown, the addresses of its outputs answer 404, and its webhook is no longer sent. ' +
          'Its cost is not refunded. To delete the file that it separated, use `DELETE ' +
          '/v1/files`.',
        tags: ['queue'],
        params: requestParams,
        response: responses({ 204: DELETED }, [401, 403, 404, 'MEDIA_IN_USE', 500]),
      },
    },
    async (request, reply) => {
      const row = await findOwn(deps, request.accountId, request.params.request_id)
      await remove(deps, row)
      return reply.status(204).send()
    },
  )
}
