import type { FastifyInstance } from 'fastify'
import { responses } from '../api/openapi.ts'
import { DeliveryAttemptList, WebhookDeliveryStatus } from '../api/schemas.ts'
import { checkWebhookTest } from '../api/validation.ts'
import {
  WebhookAttemptList,
  WebhookTestRequest,
  WebhookTestResult,
} from '../api/webhook-schemas.ts'
import { findOwn } from '../requests/own-requests.ts'
import type { UrlChecks } from '../requests/submit/url-checks.ts'
import {
  ATTEMPTS_KEPT_MAX,
  latestAttempts,
  REQUESTS_LOOKED_AT,
} from '../store/delivery-attempts.ts'
import { attemptsOf, redeliver, type RedeliveryDeps } from '../webhooks/delivery-status.ts'
import { TESTS_PER_MINUTE, type WebhookTester } from '../webhooks/tester.ts'
import type { RequestRoute } from './common.ts'
import { hangUpOf } from './submit.ts'

interface Deps extends RedeliveryDeps, Pick<UrlChecks, 'checkWebhookUrl'> {
  webhookTester: Pick<WebhookTester, 'send'>
}

const config = { scope: 'audio:separate' } as const
const LISTED_MAX = 50

/** Extensions: show the attempts to deliver a webhook, deliver it again, and test a receiver. */
export function webhookRoutes(app: FastifyInstance, deps: Deps): void {
  attemptRoutes(app, deps)
  redeliverRoute(app, deps)
  testRoute(app, deps)
}

function attemptRoutes(app: FastifyInstance, { store }: Deps): void {
  app.get<RequestRoute>(
    '/v1/queue/requests/:request_id/webhook/attempts',
    {
      config,
      schema: {
        operationId: 'listDeliveryAttempts',
        summary: 'List the attempts to deliver the webhook of a request, oldest first',
        description:
          `Extension. The last ${ATTEMPTS_KEPT_MAX} attempts, including those before a ` +
          'redelivery; none before the request has ended. Attempts before version 0.3.0 are not ' +
          'listed.',
        tags: ['queue'],
        response: responses({ 200: DeliveryAttemptList }, [404]),
      },
    },
    async ({ accountId, params }) =>
      attemptsOf(store, await findOwn({ store }, accountId, params.request_id)),
  )
  app.get(
    '/v1/webhook-attempts',
    {
      config,
      schema: {
        operationId: 'listWebhookAttempts',
        summary: 'List the latest attempts to deliver your webhooks, the latest first',
        description: `Extension. ${LISTED_MAX} at most, of ${REQUESTS_LOOKED_AT} requests.`,
        tags: ['queue'],
        response: responses({ 200: WebhookAttemptList }),
      },
    },
    async ({ accountId }) => ({
      object: 'list',
      data: await latestAttempts(store, LISTED_MAX, accountId),
    }),
  )
}

function redeliverRoute(app: FastifyInstance, deps: Deps): void {
  app.post<RequestRoute>(
    '/v1/queue/requests/:request_id/webhook/redeliver',
    {
      config,
      schema: {
        operationId: 'redeliverWebhook',
        summary: 'Send the webhook of a finished request again, with the same id and body',
        description:
          'Extension. Its attempts start over, whether it was delivered or failed. If it is ' +
          'being sent, that goes on as the first attempt.',
        tags: ['queue'],
        response: responses({ 202: WebhookDeliveryStatus }, [404, 'RESULT_NOT_READY']),
      },
    },
    async ({ accountId, params }, reply) => {
      const row = await findOwn(deps, accountId, params.request_id)
      return reply.status(202).send(await redeliver(deps, row))
    },
  )
}

function testRoute(app: FastifyInstance, deps: Deps): void {
  app.post(
    '/v1/webhook-test',
    {
      config,
      schema: {
        operationId: 'testWebhook',
        summary: 'Test a webhook receiver',
        description:
          `Extension. Posts \`{"type": "webhook.test", "created_at": …}\` once, signed like ` +
          'every webhook, and returns the outcome within 15 seconds. An account can make ' +
          `${TESTS_PER_MINUTE} tests a minute.`,
        tags: ['queue'],
        body: WebhookTestRequest,
        response: responses({ 200: WebhookTestResult }, [400]),
      },
    },
    async ({ accountId, body }, reply) => {
      const { webhookUrl: url, webhookSecret: secret } = checkWebhookTest(body)
      const signal = hangUpOf(reply)
      await deps.checkWebhookUrl(url, { accountId, signal })
      const secrets = secret === undefined ? [] : [secret]
      return deps.webhookTester.send(accountId, { url, secrets }, signal)
    },
  )
}
