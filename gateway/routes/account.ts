import type { FastifyInstance } from 'fastify'
import { Account } from '../accounts/schemas.ts'
import { showAccount, type AccountDeps } from '../accounts/accounts.ts'
import { responses } from '../api/openapi.ts'
import { standingOf, type StandingDeps } from '../requests/present/account-standing.ts'

/** Extension: the account that the key belongs to, with its balance; for a key of any scope. */
export function accountRoute(app: FastifyInstance, deps: AccountDeps & StandingDeps): void {
  app.get(
    '/v1/account',
    {
      config: { scope: 'any' },
      schema: {
        operationId: 'getAccount',
        summary: 'Get your account, its balance, its limits and how much of each is used',
        description: 'Extension. Works with a key of any scope.',
        tags: ['account'],
        response: responses({ 200: Account }, [401, 'ACCOUNT_DISABLED', 500]),
      },
    },
    async ({ accountId, apiKey }) => {
      const { own_limits: _forOperators, ...account } = await showAccount(deps, accountId)
      const standing = await standingOf(deps, apiKey)
      return { ...account, media_bytes_max: standing.limits.media_bytes?.max, ...standing }
    },
  )
}
