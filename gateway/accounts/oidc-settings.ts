/** Settings of the provider of OpenID Connect that admins sign in with. */

import type { SettingReader } from '../../shared/process/settings.ts'
import type { Role } from './roles.ts'

export interface OidcSettings {
  /** As its discovery document has it, final slash included. */
  issuer: string
  clientId: string
  /** Without one, PKCE alone protects the exchange of the code. */
  clientSecret: string | undefined
  /** Shown to people. */
  providerName: string
  scopes: string
  /** The claim whose values give a role: its name, or a path such as `realm_access.roles`. */
  roleClaim: string
  valuesOf: Readonly<Record<Role, readonly string[]>>
}

/** Undefined without an issuer; with one, the settings that it needs must be there. */
export function readOidcSettings(reader: SettingReader): OidcSettings | undefined {
  const { text, optional, parsed } = reader
  const issuer = parsed('OIDC_ISSUER', '', readIssuer)
  const ifUsed = issuer === undefined ? '' : undefined
  if (issuer !== undefined) text('ADMIN_TOKEN') // for the day on which the provider is away
  const settings = {
    clientId: text('OIDC_CLIENT_ID', ifUsed),
    clientSecret: optional('OIDC_CLIENT_SECRET'),
    providerName: text('OIDC_PROVIDER_NAME', issuer === undefined ? '' : new URL(issuer).host),
    scopes: text('OIDC_SCOPES', 'openid profile email'),
    roleClaim: text('OIDC_ROLE_CLAIM', 'roles'),
    valuesOf: {
      owner: listOf(text('OIDC_OWNERS', ifUsed)),
      operator: listOf(text('OIDC_OPERATORS', '')),
      viewer: listOf(text('OIDC_VIEWERS', '')),
    },
  }
  return issuer === undefined ? undefined : { issuer, ...settings }
}

/** Names of groups may contain blanks. */
const listOf = (text: string): string[] =>
  text
    .split(',')
    .map((value) => value.trim())
    .filter(Boolean)

const LOOPBACK = ['127.0.0.1', 'localhost', '[::1]']

/** Tokens must not travel in the clear, except within this host. */
function readIssuer(text: string): string | undefined {
  if (text === '') return undefined
  const url = URL.canParse(text) && !/[?#]/.test(text) ? new URL(text) : undefined
  const isSafe = url?.protocol === 'https:' || LOOPBACK.includes(url?.hostname ?? '')
  if (url && /^https?:$/.test(url.protocol) && isSafe) return text
  throw new Error("must be the provider's issuer, of the form https://…, without ? and #")
}
