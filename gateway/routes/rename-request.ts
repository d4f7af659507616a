import { Type, type Static } from 'typebox'
import type { FastifyInstance } from 'fastify'
import { CreateFileRequest } from '../api/file-schemas.ts'
import { responses } from '../api/openapi.ts'
import { checkOf } from '../api/validation.ts'
import { findOwn } from '../requests/own-requests.ts'
import { renameRequest } from '../store/requests.ts'
import type { Store } from '../store/database.ts'
import { requestParams, type RequestParams } from './parameters.ts'

const RenameRequest = Type.Object(
  { file_name: CreateFileRequest.properties.file_name },
  { title: 'RenameRequest', additionalProperties: false },
)
const RenamedRequest = Type.Object(
  { request_id: Type.String(), file_name: Type.String() },
  { title: 'RenamedRequest' },
)
const checkRename = checkOf(RenameRequest)

/** Extension: renames the source of a request, and so the request in lists, and its outputs. */
export function renameRequestRoute(app: FastifyInstance, { store }: { store: Store }): void {
  app.patch<{ Params: RequestParams }>(
    '/v1/queue/requests/:request_id',
    {
      config: { scope: 'audio:separate' },
      schema: {
        operationId: 'renameRequest',
        summary: 'Rename a request',
        description:
          'Extension. Lists show the new name, and outputs are named after it from then on. The ' +
          'file that was separated keeps its name.',
        tags: ['queue'],
        params: requestParams,
        body: RenameRequest,
        response: responses({ 200: RenamedRequest }, [400, 401, 403, 404, 500]),
      },
    },
    async ({ accountId, params, body }): Promise<Static<typeof RenamedRequest>> => {
      const { request_id } = await findOwn({ store }, accountId, params.request_id)
      const { file_name } = checkRename(body)
      await renameRequest(store, request_id, file_name)
      return { request_id, file_name }
    },
  )
}
