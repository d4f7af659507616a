import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import {
  ChangeEndpointRequest,
  CreateEndpointRequest,
  EndpointDeliveryList,
  NewWebhookEndpoint,
  OVERLAP_SECONDS,
  Replay,
  REPLAY_MAX,
  ReplayRequest,
  RotateEndpointRequest,
  WebhookEndpoint,
  WebhookEndpointList,
} from '../api/endpoint-schemas.ts'
import { HOUR_SECONDS } from '../../shared/durations.ts'
import { OWN_KEYS } from '../accounts/own-keys.ts'
import { responses } from '../api/openapi.ts'
import { limitOf, pageStartOf } from '../api/pagination.ts'
import { WebhookTestResult } from '../api/webhook-schemas.ts'
import {
  deliveriesOf,
  replay,
  testEndpoint,
  type ReplayDeps,
  type TestDeps,
} from '../requests/endpoint-deliveries.ts'
import {
  createEndpoint,
  ENDPOINTS_MAX,
  findOwnEndpoint,
  ownEndpoints,
  presentEndpoint,
  removeEndpoint,
  rotateEndpoint,
  updateEndpoint,
  type EndpointDeps,
} from '../requests/webhook-endpoints.ts'
import { FAILING } from '../webhooks/endpoint-health.ts'
import { TESTS_PER_MINUTE } from '../webhooks/tester.ts'
import { DELETED, pageParameters } from './common.ts'
import { hangUpOf } from './submit.ts'

type RouteDeps = Omit<EndpointDeps & ReplayDeps, 'caller' | 'client' | 'signal'> & TestDeps

interface EndpointRoute {
  Params: { endpoint_id: string }
}

const config = { scope: 'audio:separate' } as const
const PATH = '/v1/webhook-endpoints/:endpoint_id'

/** Extension: the addresses of an account that receive the events of all its requests. */
export function webhookEndpointRoutes(app: FastifyInstance, deps: RouteDeps): void {
  listAndCreate(app, deps)
  getAndChange(app, deps)
  rotateAndDelete(app, deps)
  deliveriesAndReplay(app, deps)
  test(app, deps)
}

const describe = (operationId: string, summary: string, more?: string) => ({
  ...{ operationId, summary, tags: ['queue'] },
  description: `Extension.${more === undefined ? '' : ` ${more}`}`,
})

const calledBy = (
  deps: RouteDeps,
  { apiKey: caller, client }: FastifyRequest,
  reply: FastifyReply,
): EndpointDeps => ({ ...deps, caller, client, signal: hangUpOf(reply) })

function listAndCreate(app: FastifyInstance, deps: RouteDeps): void {
  app.get(
    '/v1/webhook-endpoints',
    {
      config,
      schema: {
        ...describe('listWebhookEndpoints', 'List your webhook endpoints, oldest first'),
        response: responses({ 200: WebhookEndpointList }),
      },
    },
    async ({ accountId }) => ownEndpoints(deps.store, accountId),
  )
  app.post(
    '/v1/webhook-endpoints',
    {
      config,
      schema: {
        ...describe(
          'createWebhookEndpoint',
          'Create a webhook endpoint; only the answer contains its secret',
          'It receives the events of all your requests that end from now on, beside the ' +
            `\`webhookUrl\` of each. An account may have ${ENDPOINTS_MAX}.`,
        ),
        body: CreateEndpointRequest,
        response: responses({ 201: NewWebhookEndpoint }, [400]),
      },
    },
    async (request, reply) =>
      reply.status(201).send(await createEndpoint(calledBy(deps, request, reply), request.body)),
  )
}

function getAndChange(app: FastifyInstance, deps: RouteDeps): void {
  app.get<EndpointRoute>(
    PATH,
    {
      config,
      schema: {
        ...describe('getWebhookEndpoint', 'Get a webhook endpoint'),
        response: responses({ 200: WebhookEndpoint }, [404]),
      },
    },
    async ({ accountId, params }) =>
      presentEndpoint(await findOwnEndpoint(deps.store, accountId, params.endpoint_id)),
  )
  app.patch<EndpointRoute>(
    PATH,
    {
      config,
      schema: {
        ...describe(
          'updateWebhookEndpoint',
          'Change, disable or enable a webhook endpoint',
          'What you leave out stays as it is. Deliveries that wait for a retry go to a new ' +
            `address. The service disables an endpoint that answers with 410, or if for ` +
            `${FAILING.days} days and ${FAILING.deliveriesMin} deliveries no attempt succeeds.`,
        ),
        body: ChangeEndpointRequest,
        response: responses({ 200: WebhookEndpoint }, [400, 404]),
      },
    },
    async (request, reply) =>
      updateEndpoint(calledBy(deps, request, reply), request.params.endpoint_id, request.body),
  )
}

function rotateAndDelete(app: FastifyInstance, deps: RouteDeps): void {
  app.post<EndpointRoute>(
    `${PATH}/rotate`,
    {
      config,
      schema: {
        ...describe(
          'rotateWebhookEndpoint',
          'Replace the secret of a webhook endpoint',
          `For ${OVERLAP_SECONDS.default / HOUR_SECONDS} hours, or the time that you name, every ` +
            'event has the signatures of both secrets in `webhook-signature`.',
        ),
        body: RotateEndpointRequest,
        response: responses({ 200: NewWebhookEndpoint }, [400, 404]),
      },
    },
    async (request, reply) =>
      rotateEndpoint(calledBy(deps, request, reply), request.params.endpoint_id, request.body),
  )
  app.delete<EndpointRoute>(
    PATH,
    {
      config,
      schema: {
        ...describe(
          'deleteWebhookEndpoint',
          'Delete a webhook endpoint',
          'What waits for it is not sent.',
        ),
        response: responses({ 204: DELETED }, [404]),
      },
    },
    async (request, reply) => {
      await removeEndpoint(calledBy(deps, request, reply), request.params.endpoint_id)
      return reply.status(204).send()
    },
  )
}

function deliveriesAndReplay(app: FastifyInstance, deps: RouteDeps): void {
  app.get<EndpointRoute & { Querystring: { limit?: unknown; cursor?: unknown } }>(
    `${PATH}/deliveries`,
    {
      config,
      schema: {
        ...describe(
          'listEndpointDeliveries',
          'List the deliveries to a webhook endpoint, newest first',
          'They are kept as long as their requests. Invalid values are replaced by the default.',
        ),
        querystring: { type: 'object', properties: pageParameters },
        response: responses({ 200: EndpointDeliveryList }, [404]),
      },
    },
    async ({ accountId, params, query }) => {
      await findOwnEndpoint(deps.store, accountId, params.endpoint_id)
      const page = { limit: limitOf(query.limit), after: pageStartOf(query.cursor) }
      return deliveriesOf(deps.store, params.endpoint_id, page)
    },
  )
  app.post<EndpointRoute>(
    `${PATH}/replay`,
    {
      config,
      schema: {
        ...describe(
          'replayWebhookEndpoint',
          'Send the events of a range of time again, with the same ids and bodies',
          'Also those that ended while the endpoint was disabled. Their attempts start over. ' +
            `A call replays up to ${REPLAY_MAX} deliveries, oldest first, and an account may ` +
            `make ${OWN_KEYS.changesPerDayMax} calls in 24 hours.`,
        ),
        body: ReplayRequest,
        response: responses({ 202: Replay }, [400, 404]),
      },
    },
    async (request, reply) => {
      const { accountId, params, body } = request
      const endpoint = await findOwnEndpoint(deps.store, accountId, params.endpoint_id)
      const replaying = { ...deps, ...calledBy(deps, request, reply) }
      return reply.status(202).send(await replay(replaying, endpoint, body))
    },
  )
}

function test(app: FastifyInstance, deps: RouteDeps): void {
  app.post<EndpointRoute>(
    `${PATH}/test`,
    {
      config,
      schema: {
        ...describe(
          'testWebhookEndpoint',
          'Post a test event to a webhook endpoint, once',
          'It is signed with the secrets of the endpoint, and the outcome is returned within 15 ' +
            `seconds. An account can make ${TESTS_PER_MINUTE} tests a minute.`,
        ),
        response: responses({ 200: WebhookTestResult }, [404]),
      },
    },
    async ({ accountId, params }, reply) => {
      const endpoint = await findOwnEndpoint(deps.store, accountId, params.endpoint_id)
      return testEndpoint(deps, endpoint, hangUpOf(reply))
    },
  )
}
