import type { FastifyInstance, FastifyRequest } from 'fastify'
import { CreateFileRequest, CreateFileResponse, File, FileList } from '../api/file-schemas.ts'
import { responses } from '../api/openapi.ts'
import { limitOf, pageOf, pageStartOf, startAt } from '../api/pagination.ts'
import type { FileDeps } from '../files/pending-uploads.ts'
import {
  presentCreatedFile,
  presentFile,
  type CreatedFilePresenter,
} from '../files/presentation.ts'
import { findOwnFile, removeFile, type RemovalDeps } from '../files/removal.ts'
import { createFile, type CreateFileDeps } from '../requests/submit/create-file.ts'
import { listFiles } from '../store/files.ts'
import { DELETED, pageParameters } from './common.ts'

type Deps = CreateFileDeps & CreatedFilePresenter & FileDeps & RemovalDeps

interface FileRoute {
  Params: { file_id: string }
}

/** Endpoints 3 and 4, which create and show a file, and extensions that list and delete files. */
export function fileRoutes(app: FastifyInstance, deps: Deps): void {
  createRoute(app, deps)
  listRoute(app, deps)
  singleFileRoutes(app, deps)
}

function createRoute(app: FastifyInstance, deps: Deps): void {
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
          415,
          'MEDIA_QUOTA_EXCEEDED',
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

function listRoute(app: FastifyInstance, deps: Deps): void {
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
        response: responses({ 200: FileList }),
      },
    },
    async ({ accountId, query }) => {
      const after = pageStartOf(query.cursor)
      const limit = limitOf(query.limit)
      const rows = await listFiles(deps.store, accountId, { limit: limit + 1, after })
      const { page, next_cursor } = pageOf(rows, limit, (last) => startAt(last, last.file_id))
      const files = await Promise.all(page.map((file) => deps.pendingUploads.accept(file)))
      const now = deps.clock.now()
      return { object: 'list', data: files.map((file) => presentFile(file, now)), next_cursor }
    },
  )
}

function singleFileRoutes(app: FastifyInstance, deps: Deps): void {
  const ownFile = ({ accountId, params }: FastifyRequest<FileRoute>) =>
    findOwnFile(deps, accountId, params.file_id)
  app.get<FileRoute>(
    '/v1/files/:file_id',
    {
      config: { scope: 'files:read' },
      schema: {
        operationId: 'getFile',
        summary: 'Get a file',
        tags: ['files'],
        response: responses({ 200: File }, [404]),
      },
    },
    async (request) =>
      presentFile(await deps.pendingUploads.accept(await ownFile(request)), deps.clock.now()),
  )
  app.delete<FileRoute>(
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
        response: responses({ 204: DELETED }, [404, 'MEDIA_IN_USE']),
      },
    },
    async (request, reply) => {
      await removeFile(deps, await ownFile(request))
      return reply.status(204).send()
    },
  )
}
