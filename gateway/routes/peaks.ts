import type { FastifyInstance } from 'fastify'
import { ServiceError } from '../../shared/errors.ts'
import { responses } from '../api/openapi.ts'
import { partUrl } from '../requests/present/presenter.ts'
import { assertResult, findOwn, type ResultDeps } from '../requests/own-requests.ts'
import { requestParams, type RequestParams } from './parameters.ts'

const FOUND = {
  description: 'Where the JSON is, with `mixture`, `targets` and `residual`.',
  type: 'null',
  headers: { Location: { type: 'string', format: 'uri', description: 'Needs no key.' } },
}

/** Extension: the peaks from which a player draws long media without decoding it. */
export function peaksRoute(app: FastifyInstance, deps: ResultDeps): void {
  app.get<{ Params: RequestParams }>(
    '/v1/queue/requests/:request_id/peaks',
    {
      config: { scope: 'audio:separate' },
      schema: {
        operationId: 'getPeaks',
        summary: 'Get the peaks of a completed request',
        description:
          'Extension. Redirects to JSON with `mixture`, `targets` (in the order of the prompts) ' +
          "and `residual`, each in audiowaveform's JSON format, version 2, with 8 bits. Kept as " +
          'long as the outputs.',
        tags: ['queue'],
        params: requestParams,
        response: responses({ 302: FOUND }, [
          401,
          403,
          404,
          'RESULT_NOT_READY',
          'REQUEST_FAILED',
          500,
        ]),
      },
    },
    async (request, reply) => {
      const row = await findOwn(deps, request.accountId, request.params.request_id)
      assertResult(row, deps.clock.now())
      const { outputs_expire_at: end } = row
      const url = end === null ? undefined : await partUrl(row, 'peaks', deps, Date.parse(end))
      if (url !== undefined) return reply.redirect(url, 302)
      throw new ServiceError('NOT_FOUND', { message: 'No peaks were stored of this request.' })
    },
  )
}
