import type { FastifyInstance } from 'fastify'
import { responses } from '../api/openapi.ts'
import { flagOf } from '../api/pagination.ts'
import { QueueStatusResponse } from '../api/schemas.ts'
import { findOwn, statusOf, type StatusDeps } from '../requests/own-requests.ts'
import { readLogs } from '../store/request-logs.ts'
import { logsParameter, requestParams, type RequestParams } from './parameters.ts'

/** Endpoint 6: the state of a request. */
export function statusRoute(app: FastifyInstance, deps: StatusDeps): void {
  app.get<{ Params: RequestParams; Querystring: { logs?: unknown } }>(
    '/v1/queue/requests/:request_id/status',
    {
      config: { scope: 'audio:separate' },
      schema: {
        operationId: 'getStatus',
        summary: 'Get the status of a request',
        description: 'For polling; the stream sends changes at once.',
        tags: ['queue'],
        params: requestParams,
        querystring: { type: 'object', properties: { logs: logsParameter } },
        response: responses({ 200: QueueStatusResponse }, [401, 403, 404, 500]),
      },
    },
    async (request) => {
      const row = await findOwn(deps, request.accountId, request.params.request_id)
      const logs = flagOf(request.query.logs)
        ? await readLogs(deps.store, row.request_id)
        : undefined
      return statusOf(deps, row, logs)
    },
  )
}
