import type { FastifyInstance } from 'fastify'
import { responses } from '../api/openapi.ts'
import { createFile, type CreateFileDeps } from '../requests/submit/create-file.ts'
import { presentCreatedFile, type CreatedFilePresenter } from '../files/presentation.ts'
import { CreateFileRequest, CreateFileResponse } from '../api/file-schemas.ts'

/** Endpoint 3: creates a file, with an address to which its bytes can be uploaded. */
export function createFileRoute(
  app: FastifyInstance,
  deps: CreateFileDeps & CreatedFilePresenter,
): void {
  app.post(
    '/v1/files',
    {
      config: { scope: 'files:write' },
      schema: {
        operationId: 'createFile',
        summary: 'Create a file, whose bytes are then sent by PUT to upload_url',
        description:
          'Afterwards send exactly `file_size` bytes to `upload_url`, with the method ' +
          '`upload_method` and the given `headers`. That address needs no key.',
        tags: ['files'],
        body: CreateFileRequest,
        response: responses({ 201: CreateFileResponse }, [
          'INVALID_REQUEST',
          'INVALID_PARAMETER',
          401,
          403,
          415,
          'MEDIA_QUOTA_EXCEEDED',
          500,
        ]),
      },
      links: {
        201: {
          getFile: { operationId: 'getFile', parameters: { file_id: '$response.body#/file_id' } },
        },
      },
    },
    async (request, reply) => {
      const file = await createFile(deps, request.accountId, request.body)
      return reply.status(201).send(await presentCreatedFile(file, deps))
    },
  )
}
