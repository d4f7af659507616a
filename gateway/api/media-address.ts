/** Checks the signed addresses under /media, which replace an API key. */

import type { FastifyRequest } from 'fastify'
import { ServiceError } from '../../shared/errors.ts'
import type { Claims, SignedMethod } from '../media-store/signed-url.ts'
import type { Deps } from '../deps.ts'
import type { LocalDisk } from '../media-store/media-store.ts'

/** What the routes under /media are given. */
export type MediaDeps = Deps & { mediaStore: LocalDisk }

/** What the address of `request` allows. @throws ServiceError for one that allows nothing */
export function checkAddress(
  request: FastifyRequest,
  method: SignedMethod,
  key: string,
  { clock, mediaStore }: MediaDeps,
): Claims {
  const query = request.query as Record<string, unknown>
  const claims = mediaStore.check(method, key, query, clock.now())
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
