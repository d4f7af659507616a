import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { AccountDeps } from '../accounts/accounts.ts'
import {
  createOwnKey,
  OWN_KEYS,
  ownKeys,
  revokeOwnKey,
  rotateOwnKey,
  type OwnKeyDeps,
} from '../accounts/own-keys.ts'
import { ApiKey, CreateOwnKeyRequest, NewApiKey, OwnKeyList } from '../accounts/schemas.ts'
import { responses } from '../api/openapi.ts'

interface KeyRoute {
  Params: { key_id: string }
}

const config = { scope: 'keys:manage' } as const
/** Extension: the keys of the caller's account. */
export function ownKeyRoutes(app: FastifyInstance, deps: AccountDeps): void {
  const calledBy = ({ apiKey: caller, client }: FastifyRequest) => ({ ...deps, caller, client })
  listAndCreate(app, calledBy)
  rotateAndRevoke(app, calledBy)
}

type CalledBy = (request: FastifyRequest) => OwnKeyDeps

const describe = (operationId: string, summary: string, more: string) => ({
  ...{ operationId, summary, tags: ['account'] },
  description: `Extension. ${more}`,
})

function listAndCreate(app: FastifyInstance, calledBy: CalledBy): void {
  app.get(
    '/v1/account/keys',
    {
      config,
      schema: {
        ...describe(
          'listOwnKeys',
          "List your account's keys, oldest first",
          `Those that are valid, or ended in the last ${OWN_KEYS.daysShown} days.`,
        ),
        response: responses({ 200: OwnKeyList }),
      },
    },
    async (request) => ownKeys(calledBy(request)),
  )
  app.post(
    '/v1/account/keys',
    {
      config,
      schema: {
        ...describe(
          'createOwnKey',
          'Create a key of your account; only the answer contains its secret',
          'It has no scope that your key lacks, and expires no later than your key. An ' +
            `account may have ${OWN_KEYS.validMax} valid keys, and may make and rotate ` +
            `${OWN_KEYS.changesPerDayMax} in 24 hours.`,
        ),
        body: CreateOwnKeyRequest,
        response: responses({ 201: NewApiKey }, [400]),
      },
    },
    async (request, reply) =>
      reply.status(201).send(await createOwnKey(calledBy(request), request.body)),
  )
}

function rotateAndRevoke(app: FastifyInstance, calledBy: CalledBy): void {
  app.post<KeyRoute>(
    '/v1/account/keys/:key_id/rotate',
    {
      config,
      schema: {
        ...describe(
          'rotateOwnKey',
          'Replace the secret of a key of your account',
          'Refused for a key that may do more than yours, or for longer.',
        ),
        response: responses({ 200: NewApiKey }, ['INVALID_PARAMETER', 404]),
      },
    },
    async (request) => rotateOwnKey(calledBy(request), request.params.key_id),
  )
  app.delete<KeyRoute>(
    '/v1/account/keys/:key_id',
    {
      config,
      schema: {
        ...describe(
          'revokeOwnKey',
          'Revoke a key of your account, at once and for good',
          'Also works for the key of the call, and ends the page sessions that the key has opened.',
        ),
        response: responses({ 200: ApiKey }, [404]),
      },
    },
    async (request) => revokeOwnKey(calledBy(request), request.params.key_id),
  )
}
