import type { FastifyInstance } from 'fastify'
import { showAccount, type AccountDeps } from '../accounts/accounts.ts'
import { Account, Usage } from '../accounts/schemas.ts'
import { USAGE_DAYS_MAX, usageOf } from '../accounts/usage.ts'
import { responses } from '../api/openapi.ts'
import { standingOf, type StandingDeps } from '../requests/present/account-standing.ts'
import { dayParameters } from './common.ts'

const config = { scope: 'any' } as const

/**
 * Extensions: the account that a key belongs to, with its balance, for a key of any scope; and what
 * the account has used on each day.
 */
export function accountRoutes(app: FastifyInstance, deps: AccountDeps & StandingDeps): void {
  app.get(
    '/v1/account',
    {
      config,
      schema: {
        operationId: 'getAccount',
        summary: 'Get your account, its balance, its limits and how much of each is used',
        description: 'Extension. Works with a key of any scope.',
        tags: ['account'],
        response: responses({ 200: Account }),
      },
    },
    async ({ accountId, apiKey }) => {
      const { own_limits: _forAdmins, ...account } = await showAccount(deps, accountId)
      const standing = await standingOf(deps, apiKey)
      return { ...account, media_bytes_max: standing.limits.media_bytes?.max, ...standing }
    },
  )
  app.get<{ Querystring: { from?: unknown; to?: unknown } }>(
    '/v1/account/usage',
    {
      config,
      schema: {
        operationId: 'getUsage',
        summary: "Get your account's usage by day",
        description:
          `Extension. Works with a key of any scope. Days are in UTC, at most ${USAGE_DAYS_MAX} ` +
          'per call. They outlive the records of requests. Counted since version 0.3.0.',
        tags: ['account'],
        querystring: { type: 'object', properties: dayParameters },
        response: responses({ 200: Usage }, ['INVALID_PARAMETER']),
      },
    },
    async ({ accountId, query }) => usageOf(deps, accountId, query),
  )
}
