import type { FastifyInstance } from 'fastify'
import type { Deps } from '../deps.ts'
import { responses } from '../api/openapi.ts'
import { limitOf } from '../api/pagination.ts'
import { RequestList } from '../api/schemas.ts'
import { list } from '../requests/separations.ts'

interface ListQuery {
  limit?: unknown
  cursor?: unknown
}

/** Extension: the account's own requests, newest first. */
export function listRoute(app: FastifyInstance, deps: Deps): void {
  app.get<{ Querystring: ListQuery }>(
    '/v1/queue/requests',
    {
      config: { scope: 'audio:separate' },
      schema: {
        operationId: 'listRequests',
        summary: 'List your requests, newest first',
        description:
          'Extension. Statuses without their logs; values that make no sense take the ' +
          'default.',
        tags: ['queue'],
        querystring: {
          type: 'object',
          properties: {
            limit: {
              type: 'integer',
              minimum: 1,
              maximum: 100,
              default: 20,
              description: 'Items of one page; clamped into its range.',
            },
            cursor: { type: 'string', description: 'next_cursor of the page before.' },
          },
        },
        response: responses({ 200: RequestList }, [401, 403, 500]),
      },
    },
    async ({ accountId, query: { limit, cursor } }) =>
      list(deps, accountId, { limit: limitOf(limit), cursor }),
  )
}
