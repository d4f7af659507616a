import type { FastifyInstance } from 'fastify'
import { FileList } from '../api/file-schemas.ts'
import { responses } from '../api/openapi.ts'
import { limitOf, pageOf, pageStartOf } from '../api/pagination.ts'
import { presentFile } from '../files/presentation.ts'
import { listFiles } from '../store/files.ts'
import { pageParameters } from './parameters.ts'
import type { FileDeps } from '../files/pending-uploads.ts'

/** Extension: the account's files, newest first. */
export function listFilesRoute(app: FastifyInstance, deps: FileDeps): void {
  app.get<{ Querystring: { limit?: unknown; cursor?: unknown } }>(
    '/v1/files',
    {
      config: { scope: 'files:read' },
      schema: {
        operationId: 'listFiles',
        summary: 'List your files, newest first',
        description: 'Extension. Invalid values are replaced by the default.',
        tags: ['files'],
        querystring: { type: 'object', properties: pageParameters },
        response: responses({ 200: FileList }, [401, 403, 500]),
      },
    },
    async ({ accountId, query }) => {
      const after = pageStartOf(query.cursor)
      const limit = limitOf(query.limit)
      const rows = await listFiles(deps.store, accountId, { limit: limit + 1, after })
      const { page, next_cursor } = pageOf(rows, limit, ({ created_at, file_id: id }) => ({
        created_at,
        id,
      }))
      const files = await Promise.all(page.map((file) => deps.pendingUploads.accept(file)))
      const now = deps.clock.now()
      return { object: 'list', data: files.map((file) => presentFile(file, now)), next_cursor }
    },
  )
}
