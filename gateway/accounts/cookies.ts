/** Cookies of the page: of sessions with a key, and of admins on their way to a provider. */

export interface CookieOptions {
  /** 0: the browser deletes the cookie. */
  seconds: number
  /** The page came over HTTPS. */
  isSecure: boolean
  /** Lax, for a cookie that is needed when another site's page leads here. */
  sameSite?: 'Strict' | 'Lax'
}

/**
 * A `Set-Cookie` header of a cookie that no script reads. Without a path, a browser sends it to the
 * folder that it came from, whatever a proxy puts before it.
 */
export const newCookie = (
  name: string,
  value: string,
  { seconds, isSecure, sameSite = 'Strict' }: CookieOptions,
): string =>
  `${name}=${value}; Max-Age=${seconds}; HttpOnly; SameSite=${sameSite}` +
  (isSecure ? '; Secure' : '')

/** The value of a cookie in a `Cookie` header. */
export const cookieIn = (header: string | undefined, name: string): string | undefined =>
  new RegExp(`(?:^|; *)${name}=([\\w-]+)(?:;|$)`).exec(header ?? '')?.[1]
