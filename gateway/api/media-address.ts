/** Checks the signed addresses under /media, which replace an API key. */

import type { FastifyRequest } from 'fastify'
import { ServiceError } from '../../shared/errors.ts'
import type { Audience, Claims } from '../media-store/signed-url.ts'
import type { LocalDisk } from '../media-store/media-store.ts'
import type { Clock } from '../../shared/clock.ts'

interface MediaEndpoint {
  key: string
  /** Whose addresses the endpoint accepts. */
  audiences: readonly Audience[]
}

/**
 * Returns the claims of a request's signed address.
 * @throws ServiceError if the address does not allow this call
 */
export function checkAddress(
  request: FastifyRequest,
  { key, audiences }: MediaEndpoint,
  { clock, mediaStore }: { clock: Clock; mediaStore: Pick<LocalDisk, 'check'> },
): Claims {
  const query = request.query as Record<string, unknown>
  const method = ['GET', 'HEAD'].includes(request.method) ? 'GET' : 'PUT'
  const claims = mediaStore.check(method, key, query, clock.now())
  if (claims === 'forged') {
    throw new ServiceError('PERMISSION_DENIED', {
      message: 'The signature of this address is missing or wrong; use it unchanged.',
    })
  }
  if (claims === 'expired') {
    throw new ServiceError('FILE_EXPIRED', {
      message: 'This address has expired; read the result or file for a new one.',
    })
  }
  if (!audiences.includes(claims.audience)) {
    throw new ServiceError('PERMISSION_DENIED', {
      message: 'This address was signed for another use.',
    })
  }
  return claims
}
