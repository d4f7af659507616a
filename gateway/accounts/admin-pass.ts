/**
 * Passes of the operators' page, made of ADMIN_TOKEN: a code in an address opens one session, which
 * the page keeps in place of the token. Every gateway knows them without storing them; they end at
 * their time, or with the token.
 */

import { createHmac } from 'node:crypto'
import { isoTime } from '../../shared/clock.ts'
import { HOUR_MS, MINUTE_MS } from '../../shared/durations.ts'
import { ServiceError } from '../../shared/errors.ts'
import type { Deps } from '../deps.ts'
import { useAdminCode } from '../store/installation.ts'
import { isSameSecret } from './auth.ts'

const LIFE_MS = { code: 10 * MINUTE_MS, session: 12 * HOUR_MS } as const

type PassKind = keyof typeof LIFE_MS

/** @param now epoch milliseconds */
export function createPass(adminToken: string, kind: PassKind, now: number) {
  const expiresAt = now + LIFE_MS[kind]
  return { token: passOf(adminToken, kind, expiresAt), expires_at: isoTime(expiresAt) }
}

/** Returns whether it is a pass of this kind and token. @param now epoch milliseconds */
export function isPass(adminToken: string, kind: PassKind, given: string, now: number): boolean {
  const expiresAt = expiryOf(given)
  return now < expiresAt && isSameSecret(given, passOf(adminToken, kind, expiresAt))
}

const expiryOf = (given: string): number => Number(/^adm_[a-z]+_(\d{1,15})_/.exec(given)?.[1] ?? 0)

/**
 * A session for the token or for a code, which opens no other.
 * @param given the token, or a valid code
 * @throws ServiceError `UNAUTHENTICATED` when the code, or a newer one, was used
 */
export async function openAdminSession(
  { store, clock }: Pick<Deps, 'store' | 'clock'>,
  adminToken: string,
  given: string,
) {
  const isToken = isSameSecret(given, adminToken)
  if (isToken || (await useAdminCode(store, isoTime(expiryOf(given))))) {
    return createPass(adminToken, 'session', clock.now())
  }
  throw new ServiceError('UNAUTHENTICATED', { message: USED })
}

const USED =
  'This code, or a newer one, was used: `winnow open --operators` makes another. ' +
  'Or enter the admin token.'

function passOf(adminToken: string, kind: PassKind, expiresAt: number): string {
  const signed = createHmac('sha256', adminToken).update(`pass ${kind} ${expiresAt}`)
  return `adm_${kind}_${expiresAt}_${signed.digest('hex')}`
}
