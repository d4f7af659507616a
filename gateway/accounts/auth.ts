/** Authenticates callers by API key and checks the scope that the route requires. */

import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import type { Clock } from '../../shared/clock.ts'
import { ServiceError } from '../../shared/errors.ts'
import type { KeyUses } from './key-uses.ts'
import { findApiKeys, type KeyWithAccount } from '../store/api-keys.ts'
import type { Store } from '../store/database.ts'
import type { ApiKeyRow } from '../store/schema/tables.ts'

export const SCOPES = [
  ...(['models:read', 'files:write', 'files:read', 'audio:separate'] as const),
  'keys:manage', // an extension: manages the keys of the caller's account
] as const

export type Scope = (typeof SCOPES)[number]

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The scope that a key needs for this route; `any` if it needs none in particular. */
    scope?: Scope | 'any'
  }
  interface FastifyRequest {
    /** The key's account; set on every route that has a scope. */
    accountId: string
    /** The key itself; set on the same routes. */
    apiKey: KeyWithAccount
  }
}

/** The id of the key that an admin has set, the only one that need not look like `sep_…`. */
export const BOOTSTRAP_KEY_ID = 'bootstrap'

const API_KEY = /^sep_([0-9a-z]+)_/

export const newKeyId = (): string => randomBytes(6).toString('hex')

/** Returns a new secret for the key with this id: `sep_<key id>_<secret>`. */
export const newApiKey = (keyId: string): string =>
  `sep_${keyId}_${randomBytes(32).toString('hex')}`

/** Returns the id in a key that `newApiKey` made. */
export const keyIdOf = (key: string): string | undefined => API_KEY.exec(key)?.[1]

/** Keys are long and random, so a plain hash is enough. */
export const hashApiKey = (key: string): string => createHash('sha256').update(key).digest('hex')

/** Returns whether both texts are equal, compared in constant time. */
export function isSameSecret(one: string, other: string): boolean {
  const [a, b] = [one, other].map((text) => createHash('sha256').update(text).digest())
  return timingSafeEqual(a!, b!)
}

export interface AuthDeps {
  store: Store
  clock: Clock
  keyUses: KeyUses
}

/**
 * Creates a hook that admits only callers whose key has the route's scope, and sets their account.
 */
export function createAuthenticator(deps: AuthDeps) {
  return async (request: FastifyRequest): Promise<void> => {
    const { scope } = request.routeOptions.config
    if (!scope) throw new Error(`the route ${request.routeOptions.url} names no scope`)
    const key = await authenticate(deps, request.headers.authorization)
    admit(request, key)
    assertScope(key, scope)
  }
}

/** Sets on the request which key and account it came from. */
export function admit(request: FastifyRequest, key: KeyWithAccount): void {
  request.accountId = key.account_id
  request.apiKey = key
}

/**
 * Returns the key in the header `authorization`.
 * @throws ServiceError `UNAUTHENTICATED`, or `ACCOUNT_DISABLED` for a valid key of a disabled
 *   account
 */
export async function authenticate(
  { store, clock, keyUses }: AuthDeps,
  authorization: string | undefined,
): Promise<KeyWithAccount> {
  const key = await findKey(store, authorization)
  if (!key || !isValid(key, clock.now())) throw new ServiceError('UNAUTHENTICATED')
  if (key.disabled_at !== null) throw new ServiceError('ACCOUNT_DISABLED')
  keyUses.note(key.key_id)
  return key
}

/** @throws ServiceError `PERMISSION_DENIED` */
export function assertScope({ scopes }: Pick<ApiKeyRow, 'scopes'>, scope: Scope | 'any'): void {
  if (scope === 'any' || (JSON.parse(scopes) as string[]).includes(scope)) return
  const message = `The API key lacks the required scope ${scope}; use one that has it.`
  throw new ServiceError('PERMISSION_DENIED', { message })
}

/** Returns the text after `Bearer` in an Authorization header. */
export const bearerToken = (header: string | undefined): string | undefined =>
  /^Bearer +(\S+) *$/i.exec(header ?? '')?.[1]

/** Reads the key from the database for every call, so that a revoked key is refused at once. */
async function findKey(
  store: Store,
  header: string | undefined,
): Promise<KeyWithAccount | undefined> {
  const key = bearerToken(header)
  if (key === undefined) return undefined
  const hash = hashApiKey(key)
  const candidates = await findApiKeys(store, [keyIdOf(key) ?? '', BOOTSTRAP_KEY_ID])
  return candidates.find((candidate) => isSameSecret(candidate.key_hash, hash))
}

/**
 * Returns whether a key is valid.
 * @param now epoch milliseconds
 */
export function isValid(key: ApiKeyRow, now: number): boolean {
  const expired = key.expires_at !== null && now >= Date.parse(key.expires_at)
  return !expired && key.revoked_at === null
}
