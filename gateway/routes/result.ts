import type { FastifyInstance } from 'fastify'
import { ServiceError } from '../../shared/errors.ts'
import type { Deps } from '../deps.ts'
import { responses } from '../openapi.ts'
import { failureOf, presentResult } from '../presenter.ts'
import { QueueResultResponse } from '../schemas.ts'
import { findOwn } from '../separations.ts'
import type { RequestRow } from '../store/tables.ts'
import { webhookStatusOf } from '../webhooks.ts'
import { requestParams, type RequestParams } from './parameters.ts'

/** Endpoint 8: the outputs of a completed request. */
export function resultRoute(app: FastifyInstance, deps: Deps): void {
  app.get<{ Params: RequestParams }>('/v1/queue/requests/:request_id/result', {
    config: { scope: 'audio:separate' },
    schema: {
      operationId: 'getResult',
      summary: 'Get the result of a completed request',
      tags: ['queue'],
      params: requestParams,
      response: responses({ 200: QueueResultResponse }, [401, 403, 404, 409, 500]),
    },
  }, async (request) => {
    const row = await findOwn(deps, request.accountId, request.params.request_id)
    assertHasResult(row, deps.clock.now())
    return presentResult(row, deps.config, await webhookStatusOf(deps.store, row))
  })
}

function assertHasResult(row: RequestRow, now: number): void {
  if (row.status === 'FAILED') {
    const { code, message } = failureOf(row)
    throw new ServiceError('REQUEST_FAILED', { message: `The request failed: ${code}: ${message}` })
  }
  if (row.status !== 'COMPLETED') {
    throw new ServiceError('RESULT_NOT_READY', {
      message: `The request has not finished yet: it is ${row.status}.`,
    })
  }
  const { outputs_expire_at: deleteAfter, media_removed_at: removedAt } = row
  if (removedAt !== null || (deleteAfter !== null && now >= Date.parse(deleteAfter))) {
    throw new ServiceError('NOT_FOUND', {
      message: `The result has expired: its outputs were kept until ${deleteAfter}.`,
    })
  }
}
