import { Type } from 'typebox'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { ServiceError } from '../../shared/errors.ts'
import { REQUEST_STATUSES } from '../../shared/request-status.ts'
import { CreateFileRequest } from '../api/file-schemas.ts'
import { listFiltersOf } from '../api/list-filters.ts'
import { responses } from '../api/openapi.ts'
import { flagOf, limitOf } from '../api/pagination.ts'
import { MODEL_ID, QueueStatusResponse, RequestList, SOUNDS_MODEL } from '../api/schemas.ts'
import { AnyResultResponse } from '../api/sounds-schemas.ts'
import { checkOf } from '../api/validation.ts'
import {
  assertResult,
  cancelRequest,
  findOwn,
  list,
  remove,
  resultOf,
  statusOf,
  type RemoveDeps,
  type ResultDeps,
  type StatusDeps,
} from '../requests/own-requests.ts'
import { partUrl } from '../requests/present/presenter.ts'
import { readLogs } from '../store/request-logs.ts'
import { renameRequest } from '../store/requests.ts'
import { DELETED, logsParameter, pageParameters, type RequestRoute } from './common.ts'

type Deps = RemoveDeps & ResultDeps & StatusDeps

const REQUEST = '/v1/queue/requests/:request_id'
const config = { scope: 'audio:separate' } as const

/** Endpoints 6 and 8, and extensions that list, cancel, rename and delete requests. */
export function requestRoutes(app: FastifyInstance, deps: Deps): void {
  const ownRequest = ({ accountId, params }: FastifyRequest<RequestRoute>) =>
    findOwn(deps, accountId, params.request_id)
  listRoute(app, deps)
  statusRoute(app, deps, ownRequest)
  resultRoutes(app, deps, ownRequest)
  cancelAndDeleteRoutes(app, deps, ownRequest)
  renameRoute(app, deps, ownRequest)
}

type OwnRequest = (request: FastifyRequest<RequestRoute>) => ReturnType<typeof findOwn>

interface ListQuery {
  limit?: unknown
  cursor?: unknown
  status?: unknown
  model?: unknown
  created_from?: unknown
  created_before?: unknown
}

const time = (description: string) => ({ type: 'string', format: 'date-time', description })

function listRoute(app: FastifyInstance, deps: Deps): void {
  app.get<{ Querystring: ListQuery }>(
    '/v1/queue/requests',
    {
      config,
      schema: {
        operationId: 'listRequests',
        summary: 'List your requests, newest first',
        description:
          'Extension. Statuses without logs. An invalid `limit` or `cursor` is replaced by the ' +
          'default; an invalid filter is refused.',
        tags: ['queue'],
        querystring: {
          type: 'object',
          properties: {
            ...pageParameters,
            status: {
              type: 'string',
              enum: [...REQUEST_STATUSES],
              description: 'Only requests with this status.',
            },
            model: {
              type: 'string',
              enum: [MODEL_ID, SOUNDS_MODEL],
              description: 'Only separations, or only lists of sounds.',
            },
            created_from: time('Only those created at this time or later.'),
            created_before: time('Only those created before this time.'),
          },
        },
        response: responses({ 200: RequestList }, ['INVALID_PARAMETER']),
      },
    },
    async ({ accountId, query: { limit, cursor, ...filters } }) =>
      list(deps, accountId, { ...listFiltersOf(filters), limit: limitOf(limit), cursor }),
  )
}

function statusRoute(app: FastifyInstance, deps: Deps, ownRequest: OwnRequest): void {
  app.get<RequestRoute & { Querystring: { logs?: unknown } }>(
    `${REQUEST}/status`,
    {
      config,
      schema: {
        operationId: 'getStatus',
        summary: 'Get the status of a request',
        description: 'For polling; the stream sends changes at once.',
        tags: ['queue'],
        querystring: { type: 'object', properties: { logs: logsParameter } },
        response: responses({ 200: QueueStatusResponse }, [404]),
      },
    },
    async (request) => {
      const row = await ownRequest(request)
      const isLogged = flagOf(request.query.logs)
      return statusOf(deps, row, isLogged ? await readLogs(deps.store, row.request_id) : undefined)
    },
  )
}

const RESULT_ERRORS = [404, 'RESULT_NOT_READY', 'REQUEST_FAILED'] as const

const REDIRECT = {
  description: 'Where the JSON is, with `mixture`, `targets` and `residual`.',
  type: 'null',
  headers: { Location: { type: 'string', format: 'uri', description: 'Needs no key.' } },
}

function resultRoutes(app: FastifyInstance, deps: Deps, ownRequest: OwnRequest): void {
  app.get<RequestRoute>(
    `${REQUEST}/result`,
    {
      config,
      schema: {
        operationId: 'getResult',
        summary: 'Get the result of a completed request',
        description: 'Available once the status is `COMPLETED`, until `retention.delete_after`.',
        tags: ['queue'],
        response: responses({ 200: AnyResultResponse }, RESULT_ERRORS),
      },
    },
    async (request) => resultOf(deps, await ownRequest(request)),
  )
  app.get<RequestRoute>(
    `${REQUEST}/peaks`,
    {
      config,
      schema: {
        operationId: 'getPeaks',
        summary: 'Get the peaks of a completed request',
        description:
          'Extension. Redirects to JSON with `mixture`, `targets` (in the order of the prompts) ' +
          "and `residual`, each in audiowaveform's JSON format, version 2, with 8 bits. Kept as " +
          'long as the outputs.',
        tags: ['queue'],
        response: responses({ 302: REDIRECT }, RESULT_ERRORS),
      },
    },
    async (request, reply) => {
      const row = await ownRequest(request)
      assertResult(row, deps.clock.now())
      const { outputs_expire_at: end } = row
      const url = end === null ? undefined : await partUrl(row, 'peaks', deps, Date.parse(end))
      if (url !== undefined) return reply.redirect(url, 302)
      throw new ServiceError('NOT_FOUND', { message: 'No peaks were stored of this request.' })
    },
  )
}

function cancelAndDeleteRoutes(app: FastifyInstance, deps: Deps, ownRequest: OwnRequest): void {
  app.put<RequestRoute>(
    `${REQUEST}/cancel`,
    {
      config,
      schema: {
        operationId: 'cancelRequest',
        summary: 'Cancel a request; it ends as FAILED with the code CANCELED',
        description:
          'Extension. A queued request is removed from the queue; one in progress stops within a ' +
          'second or two.',
        tags: ['queue'],
        response: responses({ 202: QueueStatusResponse }, [404, 'REQUEST_FINISHED']),
      },
    },
    async (request, reply) => {
      const canceled = await cancelRequest(deps, await ownRequest(request))
      return reply.status(202).send(await statusOf(deps, canceled))
    },
  )
  app.delete<RequestRoute>(
    REQUEST,
    {
      config,
      schema: {
        operationId: 'deleteRequest',
        summary: 'Delete a request and its outputs',
        description:
          'Extension. A request in progress is canceled first. From then on the request is ' +
          'unknown, the addresses of its outputs answer 404, and its webhook is no longer sent. ' +
          'Its cost is not refunded. To delete the file that it separated, use `DELETE ' +
          '/v1/files`.',
        tags: ['queue'],
        response: responses({ 204: DELETED }, [404, 'MEDIA_IN_USE']),
      },
    },
    async (request, reply) => {
      await remove(deps, await ownRequest(request))
      return reply.status(204).send()
    },
  )
}

const RenameRequest = Type.Object(
  { file_name: CreateFileRequest.properties.file_name },
  { title: 'RenameRequest', additionalProperties: false },
)
const RenamedRequest = Type.Object(
  { request_id: Type.String(), file_name: Type.String() },
  { title: 'RenamedRequest' },
)
const checkRename = checkOf(RenameRequest)

function renameRoute(app: FastifyInstance, { store }: Deps, ownRequest: OwnRequest): void {
  app.patch<RequestRoute>(
    REQUEST,
    {
      config,
      schema: {
        operationId: 'renameRequest',
        summary: 'Rename a request',
        description:
          'Extension. Lists show the new name, and outputs are named after it from then on. The ' +
          'file that was separated keeps its name.',
        tags: ['queue'],
        body: RenameRequest,
        response: responses({ 200: RenamedRequest }, [400, 404]),
      },
    },
    async (request) => {
      const { request_id } = await ownRequest(request)
      const { file_name } = checkRename(request.body)
      await renameRequest(store, request_id, file_name)
      return { request_id, file_name }
    },
  )
}
