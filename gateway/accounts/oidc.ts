/**
 * Asks a provider of OpenID Connect who somebody is: authorization code with PKCE, state and nonce.
 * Its document of discovery is read at the first sign-in, so a gateway starts without the provider.
 */

import type { Configuration } from 'openid-client'
import { ServiceError } from '../../shared/errors.ts'
import type { Logger } from '../../shared/telemetry/log.ts'
import type { OidcSettings } from './oidc-settings.ts'
import { ROLES, type Admin } from './roles.ts'

const ANSWER_SECONDS_MAX = 10
/** Rest after a failed read of the discovery document. */
const RETRY_MS = 5_000
/** Both are stored with every change; a subject has at most 255 characters by the standard. */
const SUBJECT_LENGTH_MAX = 255
const NAME_LENGTH_MAX = 200
/** How many values of a claim are looked at. */
const VALUES_MAX = 1_000

/** What must be the same when the browser comes back from the provider. */
export interface SignInChecks {
  state: string
  nonce: string
  verifier: string
}

type Claims = Readonly<Record<string, unknown>>

export class OidcProvider {
  readonly settings: OidcSettings
  readonly #log: Logger
  #configuration: Promise<Configuration> | undefined

  constructor(settings: OidcSettings, log: Logger) {
    this.settings = settings
    this.#log = log
  }

  /**
   * Returns where the browser goes to sign in, and what to check when it is back.
   * @throws ServiceError `SERVICE_UNAVAILABLE` if the provider does not answer as it should
   */
  async begin(redirectUri: string): Promise<{ url: string; checks: SignInChecks }> {
    const client = await library()
    const configuration = await this.#discover()
    const [state, nonce] = [client.randomState(), client.randomNonce()]
    const verifier = client.randomPKCECodeVerifier()
    const url = client.buildAuthorizationUrl(configuration, {
      redirect_uri: redirectUri,
      scope: this.settings.scopes,
      state,
      nonce,
      code_challenge: await client.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    })
    return { url: url.href, checks: { state, nonce, verifier } }
  }

  /**
   * Returns the admin who has signed in. The provider's tokens are not kept.
   * @param address the redirect URI with the provider's answer in its query
   * @throws ServiceError `PERMISSION_DENIED` for somebody without a role; `UNAUTHENTICATED` if the
   *   answer belongs to another sign-in; `SERVICE_UNAVAILABLE`
   */
  async finish(address: URL, checks: SignInChecks): Promise<Admin> {
    const client = await library()
    const configuration = await this.#discover()
    const tokens = await client
      .authorizationCodeGrant(configuration, address, {
        pkceCodeVerifier: checks.verifier,
        expectedState: checks.state,
        expectedNonce: checks.nonce,
        idTokenExpected: true,
      })
      .catch((error: unknown) => this.#refuse(error))
    const identity = tokens.claims()!
    const isWhole = valueAt(identity, this.settings.roleClaim) !== undefined && nameIn(identity)
    // Many providers keep roles and addresses out of the token, and tell them when asked.
    const more =
      isWhole || !configuration.serverMetadata().userinfo_endpoint
        ? {}
        : await client
            .fetchUserInfo(configuration, tokens.access_token, identity.sub)
            .catch((error: unknown) => this.#refuse(error))
    return this.#adminOf({ ...more, ...identity })
  }

  #adminOf(claims: Claims): Admin {
    const { roleClaim, valuesOf, providerName } = this.settings
    const subject = String(claims['sub']).slice(0, SUBJECT_LENGTH_MAX)
    const values = valuesIn(claims, roleClaim)
    const role = ROLES.toReversed().find((role) =>
      values.some((value) => valuesOf[role].includes(value)),
    )
    if (role) return { role, subject, name: nameIn(claims)?.slice(0, NAME_LENGTH_MAX) ?? null }
    this.#log.warn(
      { subject, roleClaim, claims: Object.keys(claims) },
      'refused an admin without a role',
    )
    const why = values.length > 0 ? 'has no value that gives a role' : 'is missing or empty'
    const message =
      `${providerName} has signed you in, but your claim "${roleClaim}" ${why} here: ` +
      'ask an owner for a role.'
    throw new ServiceError('PERMISSION_DENIED', { message })
  }

  /** Reads the document once. After a failure it is read again, but not by every sign-in. */
  #discover(): Promise<Configuration> {
    this.#configuration ??= this.#read().catch((error: unknown) => {
      setTimeout(() => (this.#configuration = undefined), RETRY_MS).unref()
      return this.#refuse(error)
    })
    return this.#configuration
  }

  async #read(): Promise<Configuration> {
    const client = await library()
    const { issuer, clientId, clientSecret } = this.settings
    const url = new URL(issuer)
    const isPlain = url.protocol === 'http:' // of this host, as the setting demands
    const configuration = await client.discovery(
      url,
      clientId,
      {},
      clientSecret === undefined ? client.None() : client.ClientSecretPost(clientSecret),
      { timeout: ANSWER_SECONDS_MAX, ...(isPlain && { execute: [client.allowInsecureRequests] }) },
    )
    // The library lets the issuers of Entra ID differ, which would admit those of every tenant.
    if (new URL(configuration.serverMetadata().issuer).href === url.href) return configuration
    throw Object.assign(new Error('the discovery document names another issuer'), {
      code: OTHER_ISSUER,
    })
  }

  /** Logs what went wrong, without what the provider or the browser sent. */
  #refuse(error: unknown): never {
    const { status, message, reason } = explain(error)
    const { providerName, issuer } = this.settings
    this.#log.warn({ issuer, reason }, 'a sign-in with the provider failed')
    throw new ServiceError(status, { message: `${providerName}: ${message}` })
  }
}

/** Loaded only where it is used. */
const library = () => import('openid-client')

/** The provider's own refusals, by the words of OAuth. */
const REFUSALS: Readonly<Record<string, string>> = {
  access_denied: 'the sign-in was refused or canceled.',
  invalid_client: 'it does not accept OIDC_CLIENT_ID and OIDC_CLIENT_SECRET; tell an owner.',
  invalid_grant: 'the code was used or has expired; sign in again.',
}

/** The library's code for a discovery document of another issuer. */
const OTHER_ISSUER = 'OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED'

/** Codes of the library for a provider that does not answer, or not as one. */
const AWAY =
  /^OAUTH_(TIMEOUT|ABORT|RESPONSE_IS_NOT_CONFORM|RESPONSE_IS_NOT_JSON|PARSE_ERROR|.*_METADATA)$/

interface Explanation {
  status: 'UNAUTHENTICATED' | 'SERVICE_UNAVAILABLE'
  /** For who signs in. */
  message: string
  /** For the log. */
  reason: string
}

/** Explains an error of the library, or of `fetch`. */
function explain(given: unknown): Explanation {
  const error = given as Error & { code?: string; error?: string }
  const { code = '', error: word } = error
  if (word !== undefined || code === 'OAUTH_WWW_AUTHENTICATE_CHALLENGE') {
    const refusal = (word ?? 'invalid_client').slice(0, 60)
    const message = REFUSALS[refusal] ?? `it refused the sign-in (${refusal}).`
    return { status: 'UNAUTHENTICATED', message, reason: refusal }
  }
  const { cause } = error
  const reason = cause instanceof Error ? `${error.message}: ${cause.message}` : error.message
  if (code === OTHER_ISSUER) {
    const message = 'its issuer is not OIDC_ISSUER, character by character; tell an owner.'
    return { status: 'SERVICE_UNAVAILABLE', message, reason }
  }
  if (error instanceof TypeError || AWAY.test(code)) {
    const message = 'it does not answer as a provider should; retry, or use the admin token.'
    return { status: 'SERVICE_UNAVAILABLE', message, reason }
  }
  const message = `its answer is not to this sign-in (${reason}); sign in again.`
  return { status: 'UNAUTHENTICATED', message, reason }
}

/** A claim by its whole name, which may contain dots, or by a path. */
function valueAt(claims: Claims, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name]
  return name
    .split('.')
    .reduce<unknown>(
      (value, part) =>
        typeof value === 'object' && value !== null && Object.hasOwn(value, part)
          ? (value as Claims)[part]
          : undefined,
      claims,
    )
}

/** Texts of a claim. An e-mail address counts only once the provider has verified it. */
function valuesIn(claims: Claims, name: string): string[] {
  if (name === 'email' && claims['email_verified'] !== true) return []
  const values = [valueAt(claims, name)].flat().slice(0, VALUES_MAX)
  return values.filter((value) => typeof value === 'string')
}

const nameIn = (claims: Claims): string | undefined =>
  ['email', 'preferred_username', 'name']
    .filter((claim) => claim !== 'email' || claims['email_verified'] === true)
    .map((claim) => claims[claim])
    .find((value) => typeof value === 'string')
