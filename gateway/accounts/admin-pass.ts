/**
 * Passes for the admin page, signed with ADMIN_TOKEN: a code in an address opens one session, which
 * the page then holds instead of the token. Every gateway can check a pass without storing it. A
 * pass is valid until it expires or ADMIN_TOKEN changes. The record of changes says which sessions
 * were ended early, including those of admins who signed in by name (named-session.ts).
 */

import { createHmac } from 'node:crypto'
import { isoTime } from '../../shared/clock.ts'
import { HOUR_MS, MINUTE_MS } from '../../shared/durations.ts'
import { ServiceError } from '../../shared/errors.ts'
import { hasChange } from '../store/changes.ts'
import { inTransaction, type Store } from '../store/database.ts'
import { useAdminCode } from '../store/installation.ts'
import { record, type AccountDeps, type ChangeDeps } from './accounts.ts'
import { isSameSecret } from './auth.ts'
import { isNamed, SESSION_ENDED, type NamedSession, type SignInSeals } from './named-session.ts'
import { TOKEN_HOLDER, type Admin } from './roles.ts'
import type { WrongTokens } from './wrong-tokens.ts'

const LIFE_MS = { code: 10 * MINUTE_MS, session: 12 * HOUR_MS } as const
/** The clocks of gateways never differ by more than this. */
const CLOCKS_APART_MS = HOUR_MS

type PassKind = keyof typeof LIFE_MS

/** @param now epoch milliseconds */
export function createPass(adminToken: string, kind: PassKind, now: number) {
  const expiresAt = now + LIFE_MS[kind]
  return { token: passOf(adminToken, kind, expiresAt), expires_at: isoTime(expiresAt) }
}

interface Admission {
  adminToken: string
  /** The kind of pass that is accepted besides the token. */
  kind: PassKind
  credential: string | undefined
  client: string
  wrongTokens: WrongTokens
}

export interface AdminDeps extends AccountDeps {
  seals: SignInSeals
}

export interface AdminCaller extends Admin {
  /** Epoch milliseconds; null for the token itself. */
  expiresAt: number | null
}

/**
 * Admits callers who have the token, a valid pass of the given kind, or a session by name.
 * @throws ServiceError `UNAUTHENTICATED`; `RATE_LIMITED` after too many wrong tokens
 */
export async function admitAdmin(deps: AdminDeps, admission: Admission): Promise<AdminCaller> {
  const { adminToken, kind, credential, client, wrongTokens } = admission
  const refusal = new ServiceError('UNAUTHENTICATED', { message: REFUSED })
  if (credential === undefined) throw refusal
  if (isNamed(credential)) {
    if (kind !== 'session') throw refusal
    return admitNamed(deps, credential)
  }
  if (isSigned(adminToken, 'code', credential) || isSigned(adminToken, 'session', credential)) {
    // Nobody can guess a signature, so this does not count as a wrong token: a page whose session
    // has ended may keep asking.
    const isValid =
      isSigned(adminToken, kind, credential) && deps.clock.now() < expiryOf(credential)
    const expiresAt = expiryOf(credential)
    const openedAt = expiresAt - LIFE_MS.session
    const id = idOf(credential)
    if (isValid && !(kind === 'session' && (await hasEnded(deps.store, { id, openedAt })))) {
      return { ...TOKEN_HOLDER, expiresAt }
    }
    if (!isSigned(adminToken, kind, credential)) throw refusal
    throw new ServiceError('UNAUTHENTICATED', { message: kind === 'code' ? EXPIRED : ENDED })
  }
  wrongTokens.assertFew(client)
  if (isSameSecret(credential, adminToken)) return { ...TOKEN_HOLDER, expiresAt: null }
  wrongTokens.note(client)
  throw refusal
}

async function admitNamed({ store, seals }: AdminDeps, token: string): Promise<AdminCaller> {
  const session = seals.openSession(token)
  if (!(await hasEnded(store, session))) return session
  throw new ServiceError('UNAUTHENTICATED', { message: SESSION_ENDED })
}

const REFUSED = 'The admin token is missing or invalid.'
const ANOTHER = '`winnow open --admin` makes another. Or enter the admin token.'
const EXPIRED = `This sign-in code has expired: ${ANOTHER}`
const ENDED = 'This session has ended: `winnow open --admin` opens another.'

/**
 * Opens a session for the token, or for a code, which then opens no other session.
 * @param credential the token, or a valid code
 * @throws ServiceError `UNAUTHENTICATED` if the code or a newer one was used before
 */
export const openAdminSession = (deps: ChangeDeps, adminToken: string, credential: string) =>
  inTransaction(deps.store, async (store) => {
    const isToken = isSameSecret(credential, adminToken)
    if (!isToken && !(await useAdminCode(store, isoTime(expiryOf(credential))))) {
      throw new ServiceError('UNAUTHENTICATED', { message: USED })
    }
    const session = createPass(adminToken, 'session', deps.clock.now())
    const details = { by: isToken ? 'token' : 'code', expires_at: session.expires_at }
    const key_id = idOf(session.token)
    await record({ ...deps, store }, 'session.open', { key_id }, details)
    return session
  })

const USED = `This code, or a newer one, was used: ${ANOTHER}`

/**
 * Opens a session for an admin whom the provider knows.
 * @param deps names that admin as the author of the change
 */
export async function openNamedSession(deps: ChangeDeps & AdminDeps, admin: Admin) {
  const { session, token } = deps.seals.newSession(admin, LIFE_MS.session)
  const expiresAt = isoTime(session.expiresAt)
  const details = { by: 'provider', role: admin.role, expires_at: expiresAt }
  await record(deps, 'session.open', { key_id: session.id }, details)
  return { token, expires_at: expiresAt }
}

/**
 * Ends a session on every gateway. Does nothing for the token itself, which has no session.
 * @param session the credential that was admitted
 */
export async function endAdminSession(
  deps: ChangeDeps & AdminDeps,
  adminToken: string,
  session: string,
): Promise<void> {
  if (!isNamed(session) && !isSigned(adminToken, 'session', session)) return
  const key_id = isNamed(session) ? deps.seals.openSession(session).id : idOf(session)
  await record(deps, 'session.end', { key_id })
}

const hasEnded = (store: Store, { id, openedAt }: Pick<NamedSession, 'id' | 'openedAt'>) =>
  hasChange(store, { action: 'session.end', keyId: id, from: isoTime(openedAt - CLOCKS_APART_MS) })

/** Returns an id without the signature. Sessions that expire in the same millisecond share it. */
const idOf = (session: string): string => `adm_session_${expiryOf(session)}`

const isSigned = (adminToken: string, kind: PassKind, pass: string): boolean =>
  isSameSecret(pass, passOf(adminToken, kind, expiryOf(pass)))

const expiryOf = (pass: string): number => Number(/^adm_[a-z]+_(\d{1,15})_/.exec(pass)?.[1] ?? 0)

function passOf(adminToken: string, kind: PassKind, expiresAt: number): string {
  const signed = createHmac('sha256', adminToken).update(`pass ${kind} ${expiresAt}`)
  return `adm_${kind}_${expiresAt}_${signed.digest('hex')}`
}
