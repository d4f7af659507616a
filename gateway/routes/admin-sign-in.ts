import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { ServiceError } from '../../shared/errors.ts'
import type { Logger } from '../../shared/telemetry/log.ts'
import type { AccountDeps } from '../accounts/accounts.ts'
import { openNamedSession } from '../accounts/admin-pass.ts'
import { cookieIn, newCookie } from '../accounts/cookies.ts'
import { SignInSeals, type Outcome, type SealDeps } from '../accounts/named-session.ts'
import { OidcProvider, type SignInChecks } from '../accounts/oidc.ts'
import { WrongTokens } from '../accounts/wrong-tokens.ts'
import { installBodyDeadline } from '../api/body-deadline.ts'
import { forbidStoring } from '../api/no-store.ts'
import { authoredBy, type AdminConfig } from './admin.ts'
import { hidden } from './common.ts'

/** The addresses below it share a cookie, which is sent to no others. */
const SIGN_IN = '/admin/sign-in'
const COOKIE = 'winnow_sign_in'
/** The longest that the cookie is of use: a sign-in at the provider. */
const COOKIE_SECONDS = 600

export type SignInDeps = AccountDeps & SealDeps & { log: Logger; config: AdminConfig }

/**
 * Sign-in of admins by name. The browser goes from the page to the provider, back to the callback,
 * and then to the page, which takes its session. These are the only calls below `/admin` that need
 * no credential.
 */
export function adminSignInRoutes(app: FastifyInstance, deps: SignInDeps): void {
  const { adminToken, oidc, adminUrl } = deps.config
  if (adminToken === undefined) return
  forbidStoring(app)
  installBodyDeadline(app, deps.config.bodySecondsMax)
  app.get(SIGN_IN, hidden, async () => ({ provider: oidc?.providerName ?? null }))
  if (oidc === undefined) return
  const provider = new OidcProvider(oidc, deps.log)
  const seals = new SignInSeals(deps)
  const attempts = new WrongTokens(deps.clock)
  const redirectUri = () => new URL(`${adminUrl()}${SIGN_IN}/callback`).href
  const leave = (reply: FastifyReply, url: string, sealed: string) =>
    reply.header('set-cookie', cookie(deps, sealed, COOKIE_SECONDS)).redirect(url)
  const handOver = (reply: FastifyReply, outcome: Outcome) =>
    leave(reply, `${adminUrl()}/#signed-in`, seals.sealOutcome(outcome))

  app.get(`${SIGN_IN}/start`, hidden, async (_request, reply) => {
    try {
      const { url, checks } = await provider.begin(redirectUri())
      return await leave(reply, url, seals.sealChecks(checks))
    } catch (error) {
      return handOver(reply, problemOf(error))
    }
  })
  app.get(`${SIGN_IN}/callback`, hidden, async (request, reply) => {
    try {
      attempts.assertFew(request.client) // each asks the provider
      const checks = checksOf(seals, request)
      attempts.note(request.client) // before the answer, so that calls at once count too
      const address = new URL(redirectUri() + new URL(request.url, redirectUri()).search)
      return await handOver(reply, { admin: await provider.finish(address, checks) })
    } catch (error) {
      return handOver(reply, problemOf(error))
    }
  })
  app.post(`${SIGN_IN}/session`, hidden, async (request, reply) => {
    const admin = adminOf(seals, request)
    const { author } = authoredBy(deps)({ client: request.client, admin })
    const session = await openNamedSession({ ...deps, seals, author }, admin)
    return reply.header('set-cookie', cookie(deps, '', 0)).send(session)
  })
}

/** The provider's page leads to the callback, so it is not `Strict`. */
const cookie = (deps: SignInDeps, value: string, seconds: number): string =>
  newCookie(COOKIE, value, {
    seconds,
    isSecure: new URL(deps.config.adminUrl()).protocol === 'https:',
    sameSite: 'Lax',
  })

function checksOf(seals: SignInSeals, request: FastifyRequest): SignInChecks {
  const checks = seals.openChecks(cookieIn(request.headers.cookie, COOKIE) ?? '')
  if (checks) return checks
  const message =
    'This sign-in was begun in another browser, or more than ten minutes ago: sign in again.'
  throw new ServiceError('UNAUTHENTICATED', { message })
}

/** @throws ServiceError that says why the sign-in failed */
function adminOf(seals: SignInSeals, request: FastifyRequest) {
  const outcome = seals.openOutcome(cookieIn(request.headers.cookie, COOKIE) ?? '')
  if (outcome && 'admin' in outcome) return outcome.admin
  const { code, message } = outcome ?? {
    code: 'UNAUTHENTICATED' as const,
    message: 'No sign-in has ended in this browser in the last minute: sign in again.',
  }
  throw new ServiceError(code, { message })
}

/** What the page says; other errors are for the log. */
function problemOf(error: unknown) {
  if (!(error instanceof ServiceError)) throw error
  return { code: error.code, message: error.message }
}
