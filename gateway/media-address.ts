/** Checks the signed addresses under /media, which stand in for an API key. */

import type { FastifyRequest } from 'fastify'
import type { Clock } from '../shared/clock.ts'
import { ServiceError } from '../shared/errors.ts'
import { checkSignedQuery, type Claims, type SignedMethod } from '../shared/signed-url.ts'
import type { AppConfig } from './deps.ts'

interface AddressDeps {
  clock: Clock
  config: Pick<AppConfig, 'signingKey'>
}

/** What the address of `request` allows. @throws ServiceError for one that allows nothing */
export function checkAddress(
  request: FastifyRequest, method: SignedMethod, path: string, { clock, config }: AddressDeps,
): Claims {
  const query = request.query as Record<string, unknown>
  const claims = checkSignedQuery(config.signingKey, method, path, query, clock.now())
  if (claims === 'forged') {
    throw new ServiceError('PERMISSION_DENIED', {
      message: 'The signature of this address is missing or wrong; use it as it was given.',
    })
  }
  if (claims === 'expired') {
    throw new ServiceError('FILE_EXPIRED', { message: 'This address has expired.' })
  }
  return claims
}
