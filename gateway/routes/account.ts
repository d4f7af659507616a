import type { FastifyInstance } from 'fastify'
import { Account } from '../accounts/schemas.ts'
import { showAccount, type AccountDeps } from '../accounts/accounts.ts'
import { responses } from '../api/openapi.ts'
import type { MediaLimits } from '../accounts/media-quota.ts'

/** Extension: the account that the key belongs to, with its balance; for a key of any scope. */
export function accountRoute(
  app: FastifyInstance,
  deps: AccountDeps & { config: Pick<MediaLimits, 'mediaBytesMaxPerAccount'> },
): void {
  app.get(
    '/v1/account',
    {
      config: { scope: 'any' },
      schema: {
        operationId: 'getAccount',
        summary: 'Get your account, its balance and how much media it holds',
        description: 'Extension. For a key of any scope.',
        tags: ['account'],
        response: responses({ 200: Account }, [401, 'ACCOUNT_DISABLED', 500]),
      },
    },
    async ({ accountId }) => ({
      ...(await showAccount(deps, accountId)),
      media_bytes_max: deps.config.mediaBytesMaxPerAccount,
    }),
  )
}
