/**
 * Makes and checks expiring URLs. An HMAC-SHA256 covers method, path, expiry and size, so that none
 * can be changed. A second one adds whom the URL is for.
 */

import { createHmac, timingSafeEqual } from 'node:crypto'

export type SignedMethod = 'GET' | 'PUT'

/** Who uses an address: clients and engines may reach the store at different hosts. */
export type Audience = 'client' | 'engine'
const AUDIENCES: readonly Audience[] = ['client', 'engine']

export interface Claims {
  method: SignedMethod
  /** Path from the root, such as `/media/inputs/file_1`. */
  path: string
  /** Epoch milliseconds after which the URL is refused. */
  expiresAt: number
  /** For uploads, the exact number of bytes; any number if absent. */
  size?: number
  audience: Audience
}

type UnnamedClaims = Omit<Claims, 'audience'>

const hmac = (key: string, values: readonly unknown[]): string =>
  createHmac('sha256', key).update(JSON.stringify(values)).digest('base64url')

const signature = (key: string, { method, path, expiresAt, size }: UnnamedClaims): string =>
  hmac(key, [method, path, expiresAt, size ?? null])

const audienceSignature = (key: string, audience: Audience, claims: UnnamedClaims): string =>
  hmac(key, ['audience', audience, signature(key, claims)])

/** Returns `path` with its signature, to be appended to a base address. */
export function signPath(key: string, claims: Claims): string {
  const query = new URLSearchParams({ expires: String(claims.expiresAt) })
  if (claims.size !== undefined) query.set('size', String(claims.size))
  query.set('signature', signature(key, claims))
  query.set('for', `${claims.audience}.${audienceSignature(key, claims.audience, claims)}`)
  return `${claims.path}?${query}`
}

/**
 * Checks the query of a signed URL in constant time.
 * @param now epoch milliseconds
 * @returns the claims; `expired` if the signature is valid but the URL is too old; `forged` for
 *   everything else
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
  const claims: UnnamedClaims = { method, path, expiresAt, ...(size !== undefined && { size }) }
  if (!isSame(signature(key, claims), query.signature)) return 'forged'
  const audience = AUDIENCES.find((candidate) =>
    isSame(`${candidate}.${audienceSignature(key, candidate, claims)}`, query.for),
  )
  if (audience === undefined) return 'forged'
  return now > expiresAt ? 'expired' : { ...claims, audience }
}

function isSame(expected: string, value: unknown): boolean {
  const [one, other] = [expected, typeof value === 'string' ? value : ''].map((text) =>
    Buffer.from(text),
  ) as [Buffer, Buffer]
  return one.length === other.length && timingSafeEqual(one, other)
}
