import type { FastifyInstance } from 'fastify'
import { REQUEST_STATUSES } from '../../shared/request-status.ts'
import { listFiltersOf } from '../api/list-filters.ts'
import { responses } from '../api/openapi.ts'
import { limitOf } from '../api/pagination.ts'
import { MODEL_ID, RequestList, SOUNDS_MODEL } from '../api/schemas.ts'
import { list, type StatusDeps } from '../requests/own-requests.ts'
import { pageParameters } from './parameters.ts'

interface ListQuery {
  limit?: unknown
  cursor?: unknown
  status?: unknown
  model?: unknown
  created_from?: unknown
  created_before?: unknown
}

const time = (description: string) => ({ type: 'string', format: 'date-time', description })

/** Extension: the account's requests, newest first. */
export function listRoute(app: FastifyInstance, deps: StatusDeps): void {
  app.get<{ Querystring: ListQuery }>(
    '/v1/queue/requests',
    {
      config: { scope: 'audio:separate' },
      schema: {
        operationId: 'listRequests',
        summary: 'List your requests, newest first',
        description:
          'Extension. Statuses without logs. An invalid `limit` or `cursor` is replaced by the ' +
          'default; an invalid filter is refused.',
        tags: ['queue'],
        querystring: {
          type: 'object',
          properties: {
            ...pageParameters,
            status: {
              type: 'string',
              enum: [...REQUEST_STATUSES],
              description: 'Only requests with this status.',
            },
            model: {
              type: 'string',
              enum: [MODEL_ID, SOUNDS_MODEL],
              description: 'Only separations, or only lists of sounds.',
            },
            created_from: time('Only those created at this time or later.'),
            created_before: time('Only those created before this time.'),
          },
        },
        response: responses({ 200: RequestList }, ['INVALID_PARAMETER', 401, 403, 500]),
      },
    },
    async ({ accountId, query: { limit, cursor, ...filters } }) =>
      list(deps, accountId, { ...listFiltersOf(filters), limit: limitOf(limit), cursor }),
  )
}
