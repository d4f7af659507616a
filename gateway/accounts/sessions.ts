/**
 * Sessions of the page. The holder of an API key makes a one-time code, which opens a session of
 * that key in a browser. The browser holds the session as a cookie, which only the page's own
 * addresses accept (docs/reference/contract.md 5.5).
 */

import { createHash, randomBytes } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { isoTime } from '../../shared/clock.ts'
import { HOUR_MS, MINUTE_MS } from '../../shared/durations.ts'
import { ServiceError } from '../../shared/errors.ts'
import { inTransaction } from '../store/database.ts'
import { deletePageSession, findPageSession, putPageSession } from '../store/page-sessions.ts'
import type { ApiKeyRow } from '../store/schema/tables.ts'
import { admit, assertScope, hashApiKey, isSameSecret, isValid, type AuthDeps } from './auth.ts'
import type { AccountDeps } from './accounts.ts'
import { cookieIn, newCookie, type CookieOptions } from './cookies.ts'

const CODE_MS = 10 * MINUTE_MS
const SESSION_MS = 12 * HOUR_MS

/** Sent along with the cookie, so that no other site can use the session. */
const CSRF_HEADER = 'x-csrf-token'
const SAFE_METHODS = ['GET', 'HEAD']

export interface Session {
  /** Sent with every call that changes something, in the header `x-csrf-token`. */
  csrf_token: string
  expires_at: string
}

const newSecret = (): string => randomBytes(32).toString('hex')

/** Derived from the session's secret, which scripts of the page cannot read. */
const csrfTokenOf = (secret: string): string =>
  createHash('sha256').update(`csrf ${secret}`).digest('hex')

/**
 * Creates a code that opens one session of this key, within ten minutes and while the key's secret
 * is valid.
 */
export async function createCode(
  { store, clock }: AccountDeps,
  { key_id, key_hash }: Pick<ApiKeyRow, 'key_id' | 'key_hash'>,
) {
  const code = newSecret()
  const expiresAt = isoTime(clock.now() + CODE_MS)
  await putPageSession(store, {
    secret_hash: hashApiKey(code),
    key_id,
    key_hash,
    kind: 'code',
    expires_at: expiresAt,
  })
  return { code, expires_at: expiresAt }
}

/**
 * Opens a session with a one-time code.
 * @returns the session with its secret, for the cookie
 * @throws ServiceError `UNAUTHENTICATED` if the code is unknown, used or expired
 */
export const openSession = (
  { store, clock }: AccountDeps,
  code: string,
): Promise<Session & { secret: string; seconds: number }> =>
  inTransaction(store, async (store) => {
    const now = clock.now()
    const hash = hashApiKey(code)
    const key = await findPageSession(store, 'code', hash, isoTime(now))
    const isOurs = key && isValid(key, now) && (await deletePageSession(store, 'code', hash))
    if (!isOurs) throw new ServiceError('UNAUTHENTICATED', { message: CODE_MESSAGE })
    const secret = newSecret()
    const expiresAt = isoTime(now + SESSION_MS)
    await putPageSession(store, {
      secret_hash: hashApiKey(secret),
      key_id: key.key_id,
      key_hash: key.key_hash,
      kind: 'session',
      expires_at: expiresAt,
    })
    const seconds = SESSION_MS / 1_000
    return { csrf_token: csrfTokenOf(secret), expires_at: expiresAt, secret, seconds }
  })

const CODE_MESSAGE =
  'The code is unknown, used or older than ten minutes: `winnow open` makes another. ' +
  'Or enter an API key.'

/**
 * Returns the session that has this secret.
 * @throws ServiceError `UNAUTHENTICATED`
 */
export async function showSession(deps: AccountDeps, secret: string | undefined): Promise<Session> {
  const { session_expires_at: expires_at } = await findSession(deps, secret)
  return { csrf_token: csrfTokenOf(secret!), expires_at }
}

export async function endSession({ store }: AccountDeps, secret: string): Promise<void> {
  await deletePageSession(store, 'session', hashApiKey(secret))
}

/**
 * Creates a hook that admits only callers with a session whose key has the route's scope. It sets
 * their account, as `createAuthenticator` does for keys.
 */
export function createSessionAuthenticator(deps: AuthDeps) {
  return async (request: FastifyRequest): Promise<void> => {
    const { scope } = request.routeOptions.config
    if (!scope) throw new Error(`the route ${request.routeOptions.url} names no scope`)
    const secret = secretOf(request.headers.cookie)
    const key = await findSession(deps, secret)
    admit(request, key)
    if (!SAFE_METHODS.includes(request.method)) assertCsrfToken(request, secret!)
    assertScope(key, scope)
    deps.keyUses.note(key.key_id)
  }
}

/** @throws ServiceError `PERMISSION_DENIED` if the call may come from another site */
export function assertCsrfToken({ headers }: FastifyRequest, secret: string): void {
  const token = headers[CSRF_HEADER]
  if (typeof token === 'string' && isSameSecret(token, csrfTokenOf(secret))) return
  throw new ServiceError('PERMISSION_DENIED', {
    message: `The header ${CSRF_HEADER} must hold the session's csrf_token.`,
  })
}

async function findSession({ store, clock }: AccountDeps, secret: string | undefined) {
  const now = clock.now()
  const hash = secret === undefined ? '' : hashApiKey(secret)
  const key = await findPageSession(store, 'session', hash, isoTime(now))
  if (key && isValid(key, now)) return key
  throw new ServiceError('UNAUTHENTICATED', { message: 'There is no session, or it has ended.' })
}

const COOKIE = 'winnow_session'

/** Returns the session's secret from a `Cookie` header. */
export const secretOf = (header: string | undefined): string | undefined =>
  /^[0-9a-f]{64}$/.exec(cookieIn(header, COOKIE) ?? '')?.[0]

/** A `Set-Cookie` header that no other site's pages send. */
export const cookieOf = (secret: string, options: CookieOptions): string =>
  newCookie(COOKIE, secret, options)
