import type { FastifyInstance } from 'fastify'
import type { Deps } from '../deps.ts'
import { responses } from '../openapi.ts'
import { cursorAfter, limitOf, pageStartOf } from '../query.ts'
import { RequestList } from '../schemas.ts'
import { list, statusOf } from '../separations.ts'

interface ListQuery {
  limit?: unknown
  cursor?: unknown
}

/** Extension: the account's own requests, newest first. */
export function listRoute(app: FastifyInstance, deps: Deps): void {
  app.get<{ Querystring: ListQuery }>('/v1/queue/requests', {
    config: { scope: 'audio:separate' },
    schema: {
      operationId: 'listRequests',
      summary: 'List your requests, newest first',
      tags: ['queue'],
      querystring: {
        type: 'object',
        properties: {
          limit: { type: 'integer', minimum: 1, maximum: 100, default: 20 },
          cursor: { type: 'string', description: 'next_cursor of the page before.' },
        },
      },
      response: responses({ 200: RequestList }, [401, 403, 500]),
    },
  }, async (request) => {
    const limit = limitOf(request.query.limit)
    const after = pageStartOf(request.query.cursor)
    const rows = await list(deps, request.accountId, { limit: limit + 1, ...(after && { after }) })
    const page = rows.slice(0, limit)
    const last = page.at(-1)
    return {
      object: 'list',
      data: await Promise.all(page.map((row) => statusOf(deps, row))),
      next_cursor: rows.length > limit && last ? cursorAfter(last) : null,
    }
  })
}
