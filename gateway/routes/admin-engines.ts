import type { FastifyInstance } from 'fastify'
import { responses } from '../api/openapi.ts'
import {
  changeModel,
  drainEngine,
  fetchModel,
  listEngineModels,
  removeModel,
  type EngineModelDeps,
} from '../operations/engine-models.ts'
import {
  AdminModel,
  AdminModelList,
  ChangeModelRequest,
  checkChangeModel,
  checkFetchModel,
  DrainedEngine,
  FetchModelRequest,
} from '../operations/model-schemas.ts'
import { authoredBy, describe } from './admin.ts'

interface ModelRoute {
  Params: { name: string }
}

const MODEL_ERRORS = [400, 404, 'MODEL_CONFLICT', 503] as const

/** Extensions, for admins: change the models of engines while they run, and drain engines. */
export function adminEngineRoutes(app: FastifyInstance, deps: EngineModelDeps): void {
  const authored = authoredBy(deps)
  app.get(
    '/admin/models',
    {
      schema: {
        ...describe('listAdminModels', 'List the models that engines have, or can fetch'),
        response: responses({ 200: AdminModelList }),
      },
    },
    async () => ({ object: 'list', data: await listEngineModels(deps) }),
  )
  app.post<ModelRoute>(
    '/admin/models/:name/fetch',
    {
      schema: {
        ...describe('fetchModel', 'Download a model and install it'),
        description: 'Stops when the gateway stops; another fetch resumes it.',
        body: FetchModelRequest,
        response: responses({ 202: AdminModel }, MODEL_ERRORS),
      },
    },
    async (request, reply) => {
      const body = checkFetchModel(request.body)
      return reply.status(202).send(await fetchModel(authored(request), request.params.name, body))
    },
  )
  for (const [verb, summary] of [
    ['load', 'Load an installed model'],
    ['unload', 'Unload a model once no job uses it'],
  ] as const) {
    app.post<ModelRoute>(
      `/admin/models/:name/${verb}`,
      {
        schema: {
          ...describe(`${verb}Model`, summary),
          body: ChangeModelRequest,
          response: responses({ 202: AdminModel }, MODEL_ERRORS),
        },
      },
      async (request, reply) => {
        const body = checkChangeModel(request.body)
        const { name } = request.params
        return reply.status(202).send(await changeModel(authored(request), verb, name, body))
      },
    )
  }
  removalRoute(app, deps)
  drainRoute(app, deps)
}

function removalRoute(app: FastifyInstance, deps: EngineModelDeps): void {
  const authored = authoredBy(deps)
  app.delete<ModelRoute & { Querystring: { engine_id?: unknown } }>(
    '/admin/models/:name',
    {
      schema: {
        ...describe('removeModel', 'Unload a model and remove it, or stop its fetch'),
        querystring: { type: 'object', properties: ChangeModelRequest.properties },
        response: responses({ 202: AdminModel }, MODEL_ERRORS),
      },
    },
    async (request, reply) => {
      const { engine_id } = request.query
      const query = checkChangeModel(engine_id === undefined ? {} : { engine_id })
      return reply
        .status(202)
        .send(await removeModel(authored(request), request.params.name, query))
    },
  )
}

function drainRoute(app: FastifyInstance, deps: EngineModelDeps): void {
  const authored = authoredBy(deps)
  app.post<{ Params: { engine_id: string } }>(
    '/admin/engines/:engine_id/drain',
    {
      schema: {
        ...describe('drainEngine', 'Let an engine end its jobs and take no more'),
        description:
          'Jobs that take longer than ten minutes go back to the queue. The engine stays ' +
          '`DRAINING` until it is started again.',
        response: responses({ 202: DrainedEngine }, [404, 503]),
      },
    },
    async (request, reply) =>
      reply.status(202).send(await drainEngine(authored(request), request.params.engine_id)),
  )
}
