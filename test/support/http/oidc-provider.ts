/** A certified OpenID Connect provider on loopback, and a minimal browser that signs in with it. */

import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
// @ts-expect-error it has no types
import Provider from 'oidc-provider'

export const OIDC_CLIENT = { id: 'winnow', secret: 'a-client-secret-for-tests-only' }

interface ProviderOptions {
  redirectUri: string
  /** The claims of each user, by login; any password works. */
  users: Readonly<Record<string, object>>
  /** Whether the ID token has all claims; otherwise only the provider's user info does. */
  hasFullTokens?: boolean
}

/** Starts a provider that requires PKCE and whose pages ask for a login and for consent. */
export async function startOidcProvider(
  t: Pick<TestContext, 'after'>,
  { redirectUri, users, hasFullTokens = false }: ProviderOptions,
) {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: OIDC_CLIENT.id,
        client_secret: OIDC_CLIENT.secret,
        redirect_uris: [redirectUri],
        token_endpoint_auth_method: 'client_secret_post',
      },
    ],
    claims: { openid: ['sub', 'groups'], email: ['email', 'email_verified'], profile: ['name'] },
    conformIdTokenClaims: !hasFullTokens,
    cookies: { keys: ['a-key-for-cookies-of-tests'] },
    findAccount: (_context: unknown, id: string) => ({
      accountId: id,
      claims: () => ({ sub: id, ...users[id] }),
    }),
    pkce: { required: () => true },
    ttl: { Interaction: 600, Session: 600, Grant: 600, AccessToken: 600, IdToken: 600 },
  })
  server.on('request', provider.callback())
  const stop = () => {
    server.close()
    server.closeAllConnections()
  }
  t.after(stop)
  return { issuer, stop }
}

/**
 * Signs in on the provider's pages.
 * @param url the authorization URL
 * @returns the address that the provider redirects to
 */
export async function signInAt(url: string, login: string): Promise<string> {
  const cookies = new Map<string, string>()
  const forms: Record<string, string>[] = [
    { prompt: 'login', login, password: 'any' },
    { prompt: 'consent' },
  ]
  const visit = async (address: string, form?: Record<string, string>): Promise<string> => {
    const reply = await fetch(address, {
      redirect: 'manual',
      headers: { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') },
      ...(form && { method: 'POST', body: new URLSearchParams(form) }),
    })
    for (const cookie of reply.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? []
      if (value === '') cookies.delete(name)
      else cookies.set(name, value)
    }
    const location = reply.headers.get('location')
    if (location === null) return visit(address, forms.shift())
    const next = new URL(location, address)
    return next.origin === new URL(url).origin ? visit(next.href) : next.href
  }
  return visit(url)
}
