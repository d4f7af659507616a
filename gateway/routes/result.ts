import type { FastifyInstance } from 'fastify'
import { responses } from '../api/openapi.ts'
import { AnyResultResponse } from '../api/sounds-schemas.ts'
import { findOwn, resultOf, type ResultDeps } from '../requests/own-requests.ts'
import { requestParams, type RequestParams } from './parameters.ts'

/** Endpoint 8: the outputs of a completed request, or its list of sounds. */
export function resultRoute(app: FastifyInstance, deps: ResultDeps): void {
  app.get<{ Params: RequestParams }>(
    '/v1/queue/requests/:request_id/result',
    {
      config: { scope: 'audio:separate' },
      schema: {
        operationId: 'getResult',
        summary: 'Get the result of a completed request',
        description: 'Available once the status is `COMPLETED`, until `retention.delete_after`.',
        tags: ['queue'],
        params: requestParams,
        response: responses({ 200: AnyResultResponse }, [
          401,
          403,
          404,
          'RESULT_NOT_READY',
          'REQUEST_FAILED',
          500,
        ]),
      },
    },
    async (request) => {
      const row = await findOwn(deps, request.accountId, request.params.request_id)
      return resultOf(deps, row)
    },
  )
}
