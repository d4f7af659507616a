/**
 * Sign-in of admins by name: what the browser keeps from one step to the next, and the session at
 * the end. All of it is encrypted with the key that gateways share, so that any of them can go on,
 * and nothing is stored until a session opens.
 */

import { createHash, randomBytes } from 'node:crypto'
import { isoTime, type Clock } from '../../shared/clock.ts'
import { MINUTE_MS } from '../../shared/durations.ts'
import { ServiceError, type ErrorCode } from '../../shared/errors.ts'
import type { Settings } from '../config.ts'
import { decrypt, encrypt } from '../secrets.ts'
import type { SignInChecks } from './oidc.ts'
import type { Admin } from './roles.ts'

const PREFIX = 'adm_named_'
/**
 * How long the browser may stay at the provider, and how long the hand-over from the callback to
 * the page may take. Another gateway may serve the page, and its clock may be a minute ahead.
 */
const LIFE_MS = { signIn: 10 * MINUTE_MS, handOver: 2 * MINUTE_MS } as const

/** How a sign-in ended, which the callback hands over to the page. */
export type Outcome = { admin: Admin } | { code: ErrorCode; message: string }

export interface NamedSession extends Admin {
  /** As the record of changes names it. */
  id: string
  /** Epoch milliseconds. */
  openedAt: number
  expiresAt: number
}

interface Timed {
  expiresAt: number
}

export interface SealDeps {
  clock: Clock
  config: Settings<'encryptionKeys' | 'oidc'>
}

/** Seals and opens what a browser keeps. What is opened is undefined when it is forged or over. */
export class SignInSeals {
  readonly #deps: SealDeps
  /** A change of the settings ends all that was sealed before. */
  readonly #owner: string

  constructor(deps: SealDeps) {
    this.#deps = deps
    const { clientSecret: _, ...settings } = { clientSecret: '', ...deps.config.oidc }
    this.#owner = createHash('sha256').update(JSON.stringify(settings)).digest('hex')
  }

  sealChecks(checks: SignInChecks): string {
    return this.#seal('checks', { checks, expiresAt: this.#deps.clock.now() + LIFE_MS.signIn })
  }

  openChecks(sealed: string): SignInChecks | undefined {
    return this.#open<{ checks: SignInChecks } & Timed>('checks', sealed)?.checks
  }

  sealOutcome(outcome: Outcome): string {
    const expiresAt = this.#deps.clock.now() + LIFE_MS.handOver
    return this.#seal('outcome', { outcome, expiresAt })
  }

  openOutcome(sealed: string): Outcome | undefined {
    return this.#open<{ outcome: Outcome } & Timed>('outcome', sealed)?.outcome
  }

  /** @param lifeMs how long the session lasts */
  newSession(admin: Admin, lifeMs: number): { session: NamedSession; token: string } {
    const openedAt = this.#deps.clock.now()
    const id = `adm_session_${randomBytes(6).toString('hex')}`
    const session = { ...admin, id, openedAt, expiresAt: openedAt + lifeMs }
    return { session, token: PREFIX + this.#seal('session', session) }
  }

  /** @throws ServiceError `UNAUTHENTICATED` for a session that is forged or over */
  openSession(token: string): NamedSession {
    const session = this.#open<NamedSession>('session', token.slice(PREFIX.length))
    if (session) return session
    throw new ServiceError('UNAUTHENTICATED', { message: SESSION_ENDED })
  }

  #seal<Value extends Timed>(kind: string, value: Value): string {
    return encrypt(
      this.#deps.config.encryptionKeys,
      `admin ${kind} ${this.#owner}`,
      JSON.stringify(value),
    )
  }

  #open<Value extends Timed>(kind: string, sealed: string): Value | undefined {
    const { clock, config } = this.#deps
    try {
      const text = decrypt(config.encryptionKeys, `admin ${kind} ${this.#owner}`, sealed)
      const value = JSON.parse(text) as Value
      return clock.now() < value.expiresAt ? value : undefined
    } catch {
      return undefined // not of these gateways
    }
  }
}

export const SESSION_ENDED = 'This session has ended: sign in again.'

export const isNamed = (credential: string): boolean => credential.startsWith(PREFIX)

/** What the page shows of a session. */
export const presentAdmin = ({ role, subject, name }: Admin, expiresAt: number | null) => ({
  role,
  subject,
  name,
  expires_at: expiresAt === null ? null : isoTime(expiresAt),
})
