import type { FastifyInstance } from 'fastify'
import { responses } from '../api/openapi.ts'
import { presentFile } from '../files/presentation.ts'
import { fileParams, type FileParams } from './parameters.ts'
import { File } from '../api/file-schemas.ts'
import { findOwnFile } from '../files/removal.ts'
import type { FileDeps } from '../files/pending-uploads.ts'

/** Endpoint 4: the record of a file. */
export function getFileRoute(app: FastifyInstance, deps: FileDeps): void {
  app.get<{ Params: FileParams }>(
    '/v1/files/:file_id',
    {
      config: { scope: 'files:read' },
      schema: {
        operationId: 'getFile',
        summary: 'Get a file',
        tags: ['files'],
        params: fileParams,
        response: responses({ 200: File }, [401, 403, 404, 500]),
      },
    },
    async (request) => {
      const file = await findOwnFile(deps, request.accountId, request.params.file_id)
      return presentFile(await deps.pendingUploads.accept(file), deps.clock.now())
    },
  )
}
