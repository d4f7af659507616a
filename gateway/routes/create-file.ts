import type { FastifyInstance } from 'fastify'
import { isoTime } from '../../shared/clock.ts'
import { MINUTE_MS } from '../../shared/durations.ts'
import { newId } from '../../shared/ids.ts'
import type { Deps } from '../deps.ts'
import { assertFileRoom } from '../accounts/media-quota.ts'
import { responses } from '../api/openapi.ts'
import { presentCreatedFile } from '../files/presentation.ts'
import { CreateFileRequest, CreateFileResponse } from '../api/file-schemas.ts'
import { inTransaction } from '../store/database.ts'
import { insertFile } from '../store/files.ts'
import { checkCreateFile } from '../api/validation.ts'

/** Endpoint 3: an address to which the bytes of one file can be uploaded. */
export function createFileRoute(app: FastifyInstance, deps: Deps): void {
  const { store, clock, config } = deps
  app.post(
    '/v1/files',
    {
      config: { scope: 'files:write' },
      schema: {
        operationId: 'createFile',
        summary: 'Create a file, to be uploaded by PUT to upload_url',
        description:
          'Then send exactly `file_size` bytes to `upload_url`, with the method ' +
          '`upload_method` and `headers`; that address needs no key.',
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
      const { file_name, content_type, file_size, purpose } = checkCreateFile(request.body)
      const now = clock.now()
      const file = {
        file_id: newId('file'),
        account_id: request.accountId,
        file_name,
        content_type,
        file_size,
        purpose,
        created_at: isoTime(now),
        uploaded_at: null,
        expires_at: isoTime(now + config.uploadMinutes * MINUTE_MS),
        duration: null,
        media_removed_at: null,
      }
      await inTransaction(store, async (store) => {
        await insertFile(store, file)
        await assertFileRoom(store, file, deps)
      })
      return reply.status(201).send(await presentCreatedFile(file, deps))
    },
  )
}
