import type { FastifyInstance } from 'fastify'
import { responses } from '../api/openapi.ts'
import { findOwnFile, removeFile, type RemovalDeps } from '../files/removal.ts'
import { DELETED, fileParams, type FileParams } from './parameters.ts'

/** Extension: removes a file and its bytes. */
export function deleteFileRoute(app: FastifyInstance, deps: RemovalDeps): void {
  app.delete<{ Params: FileParams }>(
    '/v1/files/:file_id',
    {
      config: { scope: 'files:write' },
      schema: {
        operationId: 'deleteFile',
        summary: 'Delete a file',
        description:
          'Extension. Whether or not it was uploaded, the file is unknown from then on and ' +
          'accepts no upload. Refused while a request in progress needs it; what was separated ' +
          'from it stays.',
        tags: ['files'],
        params: fileParams,
        response: responses({ 204: DELETED }, [401, 403, 404, 'MEDIA_IN_USE', 500]),
      },
    },
    async (request, reply) => {
      await removeFile(deps, await findOwnFile(deps, request.accountId, request.params.file_id))
      return reply.status(204).send()
    },
  )
}
