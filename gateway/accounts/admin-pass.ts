/**
 * Passes of the operators' page, made of ADMIN_TOKEN: a code in an address opens a session, which
 * the page keeps in place of the token. Nothing stores them, so that every gateway knows them; they
 * end at their time, or with the token.
 */

import { createHmac } from 'node:crypto'
import { isoTime } from '../../shared/clock.ts'
import { HOUR_MS, MINUTE_MS } from '../../shared/durations.ts'
import { isSameSecret } from './auth.ts'

const LIFE_MS = { code: 10 * MINUTE_MS, session: 12 * HOUR_MS } as const

type PassKind = keyof typeof LIFE_MS

/** @param now epoch milliseconds */
export function createPass(adminToken: string, kind: PassKind, now: number) {
  const expiresAt = now + LIFE_MS[kind]
  return { token: passOf(adminToken, kind, expiresAt), expires_at: isoTime(expiresAt) }
}

/** Whether it is a pass of this kind and token. @param now epoch milliseconds */
export function isPass(adminToken: string, kind: PassKind, given: string, now: number): boolean {
  const expiresAt = Number(/^adm_[a-z]+_(\d{1,15})_/.exec(given)?.[1] ?? 0)
  return now < expiresAt && isSameSecret(given, passOf(adminToken, kind, expiresAt))
}

function passOf(adminToken: string, kind: PassKind, expiresAt: number): string {
  const signed = createHmac('sha256', adminToken).update(`pass ${kind} ${expiresAt}`)
  return `adm_${kind}_${expiresAt}_${signed.digest('hex')}`
}
