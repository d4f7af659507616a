import type { FastifyInstance } from 'fastify'
import { responses } from '../api/openapi.ts'
import { checkWebhookTest } from '../api/validation.ts'
import { WebhookTestRequest, WebhookTestResult } from '../api/webhook-schemas.ts'
import { hangUpOf } from './submit.ts'
import { TESTS_PER_MINUTE, type WebhookTester } from '../webhooks/tester.ts'
import type { UrlChecks } from '../requests/submit/url-checks.ts'

interface WebhookTestDeps extends Pick<UrlChecks, 'checkWebhookUrl'> {
  webhookTester: Pick<WebhookTester, 'send'>
}

/**
 * Extension: posts an event to a receiver, the way webhooks are posted, and returns the outcome.
 */
export function webhookTestRoute(app: FastifyInstance, deps: WebhookTestDeps): void {
  app.post(
    '/v1/webhook-test',
    {
      config: { scope: 'audio:separate' },
      schema: {
        operationId: 'testWebhook',
        summary: 'Test a webhook receiver',
        description:
          `Extension. Posts \`{"type": "webhook.test", "created_at": …}\` once, signed like ` +
          'every webhook, and returns the outcome within 15 seconds. An account can make ' +
          `${TESTS_PER_MINUTE} tests a minute.`,
        tags: ['queue'],
        body: WebhookTestRequest,
        response: responses({ 200: WebhookTestResult }, [400, 401, 403, 500]),
      },
    },
    async (request, reply) => {
      const { webhookUrl: url, webhookSecret: secret } = checkWebhookTest(request.body)
      const { accountId } = request
      const signal = hangUpOf(reply)
      await deps.checkWebhookUrl(url, { accountId, signal })
      const secrets = secret === undefined ? [] : [secret]
      return deps.webhookTester.send(accountId, { url, secrets }, signal)
    },
  )
}
