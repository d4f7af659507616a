import type { FastifyInstance } from 'fastify'
import { ServiceError } from '../../shared/errors.ts'
import type { Deps } from '../deps.ts'
import { responses } from '../api/openapi.ts'
import { presentFile } from '../files/presentation.ts'
import { File } from '../api/file-schemas.ts'
import { findFile } from '../store/files.ts'

/** Endpoint 4: the record of a file. */
export function getFileRoute(app: FastifyInstance, deps: Deps): void {
  app.get<{ Params: { file_id: string } }>(
    '/v1/files/:file_id',
    {
      config: { scope: 'files:read' },
      schema: {
        operationId: 'getFile',
        summary: 'Get the record of a file',
        tags: ['files'],
        params: {
          type: 'object',
          properties: { file_id: { type: 'string', description: 'As create-file answered it.' } },
          required: ['file_id'],
        },
        response: responses({ 200: File }, [401, 403, 404, 500]),
      },
    },
    async (request) => {
      const file = await findFile(deps.store, request.params.file_id)
      if (file?.account_id !== request.accountId) {
        throw new ServiceError('NOT_FOUND', { message: 'There is no file with this id.' })
      }
      return presentFile(await deps.pendingUploads.accept(file), deps.clock.now())
    },
  )
}
