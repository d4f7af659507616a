/**
 * Passes of the operators' page, made of ADMIN_TOKEN: a code in an address opens one session, which
 * the page keeps in place of the token. Every gateway knows them without storing them; they end at
 * their time, or with the token. That a session was ended before is in the record of changes.
 */

import { createHmac } from 'node:crypto'
import { isoTime } from '../../shared/clock.ts'
import { HOUR_MS, MINUTE_MS } from '../../shared/durations.ts'
import { ServiceError } from '../../shared/errors.ts'
import { addChange, hasChange, type NewChange } from '../store/changes.ts'
import { inTransaction, type Store } from '../store/database.ts'
import { useAdminCode } from '../store/installation.ts'
import type { AccountDeps, ChangeDeps } from './accounts.ts'
import { isSameSecret } from './auth.ts'
import type { WrongTokens } from './wrong-tokens.ts'

const LIFE_MS = { code: 10 * MINUTE_MS, session: 12 * HOUR_MS } as const
/** More than the clocks of gateways are ever apart. */
const CLOCKS_APART_MS = MINUTE_MS

type PassKind = keyof typeof LIFE_MS

/** @param now epoch milliseconds */
export function createPass(adminToken: string, kind: PassKind, now: number) {
  const expiresAt = now + LIFE_MS[kind]
  return { token: passOf(adminToken, kind, expiresAt), expires_at: isoTime(expiresAt) }
}

interface Admission {
  adminToken: string
  /** Takes a pass of this kind besides the token. */
  kind: PassKind
  /** The token or pass that the caller has sent. */
  credential: string | undefined
  /** The caller's address. */
  client: string
  wrongTokens: WrongTokens
}

/**
 * Admits who has the token, or a pass of the kind that is valid.
 * @throws ServiceError `UNAUTHENTICATED`; `RATE_LIMITED` after too many wrong tokens
 */
export async function admitAdmin(deps: AccountDeps, admission: Admission): Promise<void> {
  const { adminToken, kind, credential: credential, client, wrongTokens } = admission
  const refusal = new ServiceError('UNAUTHENTICATED', { message: REFUSED })
  if (credential === undefined) throw refusal
  if (isSigned(adminToken, 'code', credential) || isSigned(adminToken, 'session', credential)) {
    // Nobody guesses a signature: a page whose session is over may go on asking.
    const isValid =
      isSigned(adminToken, kind, credential) && deps.clock.now() < expiryOf(credential)
    if (isValid && !(kind === 'session' && (await hasEnded(deps.store, credential)))) return
    if (!isSigned(adminToken, kind, credential)) throw refusal
    throw new ServiceError('UNAUTHENTICATED', { message: kind === 'code' ? EXPIRED : ENDED })
  }
  wrongTokens.assertFew(client)
  if (isSameSecret(credential, adminToken)) return
  wrongTokens.note(client)
  throw refusal
}

const REFUSED = 'The admin token is missing or invalid.'
const ANOTHER = '`winnow open --operators` makes another. Or enter the admin token.'
const EXPIRED = `This sign-in code has expired: ${ANOTHER}`
const ENDED = 'This session has ended: `winnow open --operators` opens another.'

/**
 * A session for the token or for a code, which opens no other.
 * @param credential the token, or a valid code
 * @throws ServiceError `UNAUTHENTICATED` when the code, or a newer one, was used
 */
export const openAdminSession = (deps: ChangeDeps, adminToken: string, credential: string) =>
  inTransaction(deps.store, async (store) => {
    const isToken = isSameSecret(credential, adminToken)
    if (!isToken && !(await useAdminCode(store, isoTime(expiryOf(credential))))) {
      throw new ServiceError('UNAUTHENTICATED', { message: USED })
    }
    const session = createPass(adminToken, 'session', deps.clock.now())
    const details = { by: isToken ? 'token' : 'code', expires_at: session.expires_at }
    await record({ ...deps, store }, 'session.open', session.token, details)
    return session
  })

const USED = `This code, or a newer one, was used: ${ANOTHER}`

/** Ends the session on every gateway; the token itself has none. @param session as admitted */
export async function endAdminSession(
  deps: ChangeDeps,
  adminToken: string,
  session: string,
): Promise<void> {
  if (isSigned(adminToken, 'session', session)) await record(deps, 'session.end', session, {})
}

const record = (
  { store, clock, author }: ChangeDeps,
  action: NewChange['action'],
  session: string,
  details: NewChange['details'],
): Promise<void> =>
  addChange(store, {
    created_at: isoTime(clock.now()),
    ...author,
    action,
    account_id: null,
    key_id: idOf(session),
    details,
  })

const hasEnded = (store: Store, session: string): Promise<boolean> =>
  hasChange(store, {
    action: 'session.end',
    keyId: idOf(session),
    from: isoTime(expiryOf(session) - LIFE_MS.session - CLOCKS_APART_MS),
  })

/** Names a session without its signature; those of one millisecond are one. */
const idOf = (session: string): string => `adm_session_${expiryOf(session)}`

const isSigned = (adminToken: string, kind: PassKind, pass: string): boolean =>
  isSameSecret(pass, passOf(adminToken, kind, expiryOf(pass)))

const expiryOf = (pass: string): number => Number(/^adm_[a-z]+_(\d{1,15})_/.exec(pass)?.[1] ?? 0)

function passOf(adminToken: string, kind: PassKind, expiresAt: number): string {
  const signed = createHmac('sha256', adminToken).update(`pass ${kind} ${expiresAt}`)
  return `adm_${kind}_${expiresAt}_${signed.digest('hex')}`
}
