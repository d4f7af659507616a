/**
 * Makes and checks expiring URLs: an HMAC-SHA256 over method, path and every claim, so that none
 * can be changed.
 */

import { createHmac, timingSafeEqual } from 'node:crypto'

export type SignedMethod = 'GET' | 'PUT'

export interface Claims {
  method: SignedMethod
  /** Path from the root, such as `/media/inputs/file_1`. */
  path: string
  /** Epoch milliseconds after which the URL is refused. */
  expiresAt: number
  /** For uploads: the exact number of bytes. Absent: any number. */
  size?: number
}

const signature = (key: string, { method, path, expiresAt, size }: Claims): string =>
  createHmac('sha256', key)
    .update(JSON.stringify([method, path, expiresAt, size ?? null]))
    .digest('base64url')

/** `path` with its signature, to be put behind a base address. */
export function signPath(key: string, claims: Claims): string {
  const query = new URLSearchParams({ expires: String(claims.expiresAt) })
  if (claims.size !== undefined) query.set('size', String(claims.size))
  query.set('signature', signature(key, claims))
  return `${claims.path}?${query}`
}

/**
 * Checks the query of a signed URL in constant time.
 * @param now epoch milliseconds
 * @returns the claims, `expired` when the signature is right but its time is over, `forged`
 * otherwise
 */
export function checkSignedQuery(
  key: string,
  method: SignedMethod,
  path: string,
  query: Readonly<Record<string, unknown>>,
  now: number,
): Claims | 'expired' | 'forged' {
  const expiresAt = Number(query.expires)
  const size = query.size === undefined ? undefined : Number(query.size)
  if (!Number.isSafeInteger(expiresAt) || (size !== undefined && !Number.isSafeInteger(size))) {
    return 'forged'
  }
  const claims: Claims = { method, path, expiresAt, ...(size !== undefined && { size }) }
  const wanted = Buffer.from(signature(key, claims))
  const given = Buffer.from(typeof query.signature === 'string' ? query.signature : '')
  if (wanted.length !== given.length || !timingSafeEqual(wanted, given)) return 'forged'
  return now > expiresAt ? 'expired' : claims
}
