import type { FastifyInstance } from 'fastify'
import { usageOf, USAGE_DAYS_MAX } from '../accounts/usage.ts'
import { Usage } from '../accounts/schemas.ts'
import { responses } from '../api/openapi.ts'
import { dayParameters } from './parameters.ts'
import type { AccountDeps } from '../accounts/accounts.ts'

/** Extension: what the account has used on each day; for a key of any scope. */
export function usageRoute(app: FastifyInstance, deps: AccountDeps): void {
  app.get<{ Querystring: { from?: unknown; to?: unknown } }>(
    '/v1/account/usage',
    {
      config: { scope: 'any' },
      schema: {
        operationId: 'getUsage',
        summary: "Get your account's usage by day",
        description:
          `Extension. Works with a key of any scope. Days are in UTC, at most ${USAGE_DAYS_MAX} ` +
          'per call. They outlive the records of requests. Counted since version 0.3.0.',
        tags: ['account'],
        querystring: { type: 'object', properties: dayParameters },
        response: responses({ 200: Usage }, ['INVALID_PARAMETER', 401, 'ACCOUNT_DISABLED', 500]),
      },
    },
    async ({ accountId, query }) => usageOf(deps, accountId, query),
  )
}
