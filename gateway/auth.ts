/** Who calls, and whether their key may do what the route asks. */

import { createHash } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import type { Clock } from '../shared/clock.ts'
import { ServiceError } from '../shared/errors.ts'
import { findApiKeyByHash } from './store/api-keys.ts'
import type { Store } from './store/database.ts'
import type { ApiKeyRow } from './store/tables.ts'

export const SCOPES = ['models:read', 'files:write', 'files:read', 'audio:separate'] as const

export type Scope = (typeof SCOPES)[number]

declare module 'fastify' {
  interface FastifyContextConfig {
    /** What a key needs to call the route. */
    scope?: Scope
  }
  interface FastifyRequest {
    /** The account whose key was shown; set on every route that has a scope. */
    accountId: string
  }
}

/** Keys are random and long, so a plain hash keeps them, and the look-up by it tells nothing. */
export const hashApiKey = (key: string): string => createHash('sha256').update(key).digest('hex')

/** A hook that lets in only callers whose key has the route's scope, and notes their account. */
export function createAuthenticator(deps: { store: Store; clock: Clock }) {
  return async (request: FastifyRequest): Promise<void> => {
    const { scope } = request.routeOptions.config
    if (!scope) throw new Error(`the route ${request.routeOptions.url} names no scope`)
    request.accountId = await authenticate(deps, request.headers.authorization, scope)
  }
}

/**
 * The account of whoever sent the header `authorization`.
 * @throws ServiceError `UNAUTHENTICATED`, or `PERMISSION_DENIED` when the key lacks `scope`
 */
export async function authenticate(
  { store, clock }: { store: Store; clock: Clock }, authorization: string | undefined, scope: Scope,
): Promise<string> {
  const key = await findKey(store, authorization)
  if (!key || !isValid(key, clock.now())) throw new ServiceError('UNAUTHENTICATED')
  if (!(JSON.parse(key.scopes) as string[]).includes(scope)) {
    throw new ServiceError('PERMISSION_DENIED', {
      message: `The API key lacks the required scope ${scope}.`,
    })
  }
  return key.account_id
}

async function findKey(store: Store, header: string | undefined): Promise<ApiKeyRow | undefined> {
  const key = /^Bearer +(\S+) *$/i.exec(header ?? '')?.[1]
  return key === undefined ? undefined : findApiKeyByHash(store, hashApiKey(key))
}

function isValid(key: ApiKeyRow, now: number): boolean {
  const expired = key.expires_at !== null && now >= Date.parse(key.expires_at)
  return !expired && key.revoked_at === null
}
