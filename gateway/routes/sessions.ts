import type { FastifyInstance, FastifyRequest } from 'fastify'
import { ServiceError } from '../../shared/errors.ts'
import {
  assertCsrfToken,
  cookieOf,
  createCode,
  endSession,
  openSession,
  secretOf,
  showSession,
} from '../accounts/sessions.ts'
import { installBodyDeadline } from '../api/body-deadline.ts'
import { forbidStoring } from '../api/no-store.ts'
import type { AccountDeps } from '../accounts/accounts.ts'
import type { Settings } from '../config.ts'
import { hidden } from './common.ts'

/** The path at which the page calls the API with its session. The cookie is sent nowhere else. */
export const PLAYGROUND = '/playground'

export function sessionRoutes(
  app: FastifyInstance,
  deps: AccountDeps & { config: Settings<'bodySecondsMax' | 'publicUrl'> },
): void {
  forbidStoring(app)
  installBodyDeadline(app, deps.config.bodySecondsMax)
  const cookie = (secret: string, seconds: number) =>
    cookieOf(secret, { seconds, isSecure: deps.config.publicUrl().startsWith('https:') })
  app.post(`${PLAYGROUND}/sessions`, hidden, async ({ body }, reply) => {
    const { secret, seconds, ...session } = await openSession(deps, readCode(body))
    return reply.status(201).header('set-cookie', cookie(secret, seconds)).send(session)
  })
  app.get(`${PLAYGROUND}/session`, hidden, async ({ headers }) =>
    showSession(deps, secretOf(headers.cookie)),
  )
  app.delete(`${PLAYGROUND}/session`, hidden, async (request, reply) => {
    const secret = ownSecret(request)
    if (secret !== undefined) await endSession(deps, secret)
    return reply.status(204).header('set-cookie', cookie('', 0)).send()
  })
}

/**
 * Returns the secret of the caller's session, if there is one.
 * @throws ServiceError `PERMISSION_DENIED` if the call may come from another site
 */
function ownSecret(request: FastifyRequest): string | undefined {
  const secret = secretOf(request.headers.cookie)
  if (secret !== undefined) assertCsrfToken(request, secret)
  return secret
}

/** Makes a one-time code for the holder of an API key. Install it behind authentication. */
export function codeRoute(app: FastifyInstance, deps: AccountDeps): void {
  app.post(
    `${PLAYGROUND}/codes`,
    { ...hidden, config: { scope: 'any' } },
    async ({ apiKey }, reply) => reply.status(201).send(await createCode(deps, apiKey)),
  )
}

function readCode(body: unknown): string {
  const code = (body as { code?: unknown } | null | undefined)?.code
  if (typeof code === 'string') return code
  const message = 'code must be the one-time code of the address, as text.'
  throw new ServiceError('INVALID_PARAMETER', { param: 'code', message })
}
