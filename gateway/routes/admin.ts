import type { FastifyInstance, FastifyRequest } from 'fastify'
import {
  Account,
  AccountList,
  ApiKey,
  ApiKeyList,
  CreateAccountRequest,
  CreateKeyRequest,
  CreditRequest,
  KeyLimitsRequest,
  LimitsRequest,
  NewApiKey,
} from '../accounts/schemas.ts'
import {
  allAccounts,
  allKeys,
  createAccount,
  createKey,
  creditAccount,
  deleteAccount,
  disableAccount,
  enableAccount,
  limitAccount,
  limitKey,
  revokeKey,
  rotateKey,
  showAccount,
  type AccountDeps,
} from '../accounts/accounts.ts'
import {
  admitAdmin,
  endAdminSession,
  openAdminSession,
  type AdminCaller,
} from '../accounts/admin-pass.ts'
import { bearerToken } from '../accounts/auth.ts'
import { presentAdmin, SignInSeals, type SealDeps } from '../accounts/named-session.ts'
import { assertRole, roleFor, type Admin } from '../accounts/roles.ts'
import { WrongTokens } from '../accounts/wrong-tokens.ts'
import { forbidStoring } from '../api/no-store.ts'
import { installBodyDeadline } from '../api/body-deadline.ts'
import { responses } from '../api/openapi.ts'
import type { Settings } from '../config.ts'
import { Activity, createActivity, type ActivityDeps } from '../operations/activity.ts'
import { describeFleet, Fleet, type FleetDeps } from '../operations/fleet.ts'
import { hidden } from './common.ts'

/** Opens a session for the token or for a code, shows one, and ends one. */
const SESSION = '/admin/session'

interface AccountRoute {
  Params: { account_id: string }
}

interface KeyRoute {
  Params: { key_id: string }
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Who calls the admin API; set on every route of it. */
    admin: AdminCaller
  }
}

export type AdminDeps = AccountDeps & FleetDeps & ActivityDeps & SealDeps & { config: AdminConfig }

/** Without `adminToken` there is no admin API. */
export type AdminConfig = Settings<'bodySecondsMax' | 'adminToken' | 'adminUrl' | 'oidc'>

/**
 * Extension: accounts and keys, for holders of the admin token and for admins by name, each as
 * their role allows. Without a token these routes do not exist.
 */
export function adminRoutes(app: FastifyInstance, deps: AdminDeps): void {
  const { adminToken } = deps.config
  if (adminToken === undefined) return
  forbidStoring(app)
  const wrongTokens = new WrongTokens(deps.clock)
  const seals = new SignInSeals(deps)
  app.decorateRequest('admin')
  app.addHook('onRequest', async (request) => {
    const { headers, client, method } = request
    const { url: route = '' } = request.routeOptions
    const kind = route === SESSION && method === 'POST' ? 'code' : 'session'
    const credential = bearerToken(headers.authorization)
    const admission = { adminToken, kind, credential, client, wrongTokens } as const
    request.admin = await admitAdmin({ ...deps, seals }, admission)
    assertRole(request.admin, roleFor(method, route))
  })
  installBodyDeadline(app, deps.config.bodySecondsMax)
  sessionRoutes(app, { ...deps, seals }, adminToken)
  fleetRoute(app, deps)
  accountRoutes(app, deps)
  closingRoutes(app, deps)
  keyRoutes(app, deps)
  limitRoutes(app, deps)
}

/**
 * Adds the sessions of the admin page. The API description leaves them out, like the page's
 * sessions of API keys.
 */
function sessionRoutes(
  app: FastifyInstance,
  deps: AccountDeps & { seals: SignInSeals },
  adminToken: string,
): void {
  const authored = authoredBy(deps)
  const tokenOf = ({ headers }: FastifyRequest) => bearerToken(headers.authorization) ?? ''
  app.post(SESSION, hidden, async (request) =>
    openAdminSession(authored(request), adminToken, tokenOf(request)),
  )
  app.get(SESSION, hidden, async ({ admin }) => presentAdmin(admin, admin.expiresAt))
  app.delete(SESSION, hidden, async (request, reply) => {
    await endAdminSession(authored(request), adminToken, tokenOf(request))
    return reply.status(204).send()
  })
}

/** Returns the common part of all admin routes in the API description. */
export const describe = (operationId: string, summary: string) => ({
  operationId,
  summary,
  tags: ['admin'],
  security: [{ adminToken: [] }],
})

function fleetRoute(app: FastifyInstance, deps: FleetDeps & ActivityDeps): void {
  app.get(
    '/admin/fleet',
    {
      schema: {
        ...describe('showFleet', 'Get engines, models, queue, storage and what failed last'),
        response: responses({ 200: Fleet }),
      },
    },
    async () => describeFleet(deps),
  )
  app.get(
    '/admin/activity',
    {
      schema: {
        ...describe('showActivity', 'Get what ended in the last day, by hour'),
        response: responses({ 200: Activity }),
      },
    },
    createActivity(deps),
  )
}

/**
 * Adds the author of a change to the dependencies: the record of changes names the client's address
 * and the admin.
 */
export const authoredBy =
  <Deps extends AccountDeps>(deps: Deps) =>
  ({ client, admin }: { client: string; admin: Admin }) => ({
    ...deps,
    author: {
      tool: 'admin_api',
      origin: client,
      admin_subject: admin.subject,
      admin_name: admin.name,
    } as const,
  })

function accountRoutes(app: FastifyInstance, deps: AccountDeps): void {
  const authored = authoredBy(deps)
  app.post(
    '/admin/accounts',
    {
      schema: {
        ...describe('createAccount', 'Create an account'),
        body: CreateAccountRequest,
        response: responses({ 201: Account }, [400]),
      },
    },
    async (request, reply) =>
      reply.status(201).send(await createAccount(authored(request), request.body)),
  )
  app.get(
    '/admin/accounts',
    {
      schema: {
        ...describe('listAccounts', 'List the accounts, oldest first'),
        response: responses({ 200: AccountList }),
      },
    },
    async () => allAccounts(deps),
  )
  app.get<AccountRoute>(
    '/admin/accounts/:account_id',
    {
      schema: {
        ...describe('showAccount', 'Get an account and its balance'),
        response: responses({ 200: Account }, [404]),
      },
    },
    async ({ params }) => showAccount(deps, params.account_id),
  )
  app.post<AccountRoute>(
    '/admin/accounts/:account_id/credit',
    {
      schema: {
        ...describe('creditAccount', 'Add seconds to the balance of an account'),
        body: CreditRequest,
        response: responses({ 200: Account }, [400, 402, 404, 'IDEMPOTENCY_CONFLICT']),
      },
    },
    async (request) => creditAccount(authored(request), request.params.account_id, request.body),
  )
}

function closingRoutes(app: FastifyInstance, deps: AccountDeps): void {
  const authored = authoredBy(deps)
  for (const [verb, summary, change] of [
    ['disable', 'Refuse the keys of an account, and cancel its requests', disableAccount],
    ['enable', 'Admit the keys of a disabled account again', enableAccount],
  ] as const) {
    app.post<AccountRoute>(
      `/admin/accounts/:account_id/${verb}`,
      {
        schema: {
          ...describe(`${verb}Account`, summary),
          response: responses({ 200: Account }, [404]),
        },
      },
      async (request) => change(authored(request), request.params.account_id),
    )
  }
  app.delete<AccountRoute>(
    '/admin/accounts/:account_id',
    {
      schema: {
        ...describe('deleteAccount', 'Delete an account with its keys and media'),
        response: responses({ 200: Account }, ['INVALID_PARAMETER', 404]),
      },
    },
    async (request) => deleteAccount(authored(request), request.params.account_id),
  )
}

function keyRoutes(app: FastifyInstance, deps: AccountDeps): void {
  const authored = authoredBy(deps)
  app.post(
    '/admin/keys',
    {
      schema: {
        ...describe('createKey', 'Create an API key; only the answer contains its secret'),
        body: CreateKeyRequest,
        response: responses({ 201: NewApiKey }, [400]),
      },
    },
    async (request, reply) =>
      reply.status(201).send(await createKey(authored(request), request.body)),
  )
  app.get<{ Querystring: { account_id?: unknown } }>(
    '/admin/keys',
    {
      schema: {
        ...describe('listKeys', 'List the API keys, oldest first'),
        querystring: {
          type: 'object',
          properties: { account_id: { type: 'string', description: 'Only keys of this account.' } },
        },
        response: responses({ 200: ApiKeyList }),
      },
    },
    async ({ query: { account_id: accountId } }) =>
      allKeys(deps, typeof accountId === 'string' ? accountId : undefined),
  )
  app.post<KeyRoute>(
    '/admin/keys/:key_id/revoke',
    {
      schema: {
        ...describe('revokeKey', 'Revoke an API key, at once and for good'),
        response: responses({ 200: ApiKey }, [404]),
      },
    },
    async (request) => revokeKey(authored(request), request.params.key_id),
  )
  app.post<KeyRoute>(
    '/admin/keys/:key_id/rotate',
    {
      schema: {
        ...describe('rotateKey', 'Replace the secret of an API key'),
        response: responses({ 200: NewApiKey }, [400, 404]),
      },
    },
    async (request) => rotateKey(authored(request), request.params.key_id),
  )
}

function limitRoutes(app: FastifyInstance, deps: AccountDeps): void {
  const authored = authoredBy(deps)
  app.put<AccountRoute>(
    '/admin/accounts/:account_id/limits',
    {
      schema: {
        ...describe('limitAccount', 'Set all limits of an account'),
        body: LimitsRequest,
        response: responses({ 200: Account }, [400, 404]),
      },
    },
    async (request) => limitAccount(authored(request), request.params.account_id, request.body),
  )
  app.put<KeyRoute>(
    '/admin/keys/:key_id/limits',
    {
      schema: {
        ...describe('limitKey', 'Set how often an API key may call'),
        body: KeyLimitsRequest,
        response: responses({ 200: ApiKey }, [400, 404]),
      },
    },
    async (request) => limitKey(authored(request), request.params.key_id, request.body),
  )
}
