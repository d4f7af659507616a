/**
 * Connects to an address that a client names. Private addresses are refused in three places: as a
 * literal in the URL, when a name is resolved (by the look-up of the connection itself, so that
 * nothing can change in between), and on the connected socket.
 */

import type { LookupAddress } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import { ServiceError, type ErrorCode } from '../errors.ts'
import {
  request,
  type AddressGuard,
  type HttpResponse,
  type RequestOptions,
} from './http-request.ts'
import { isPublicAddress, matchesCidrs } from './public-address.ts'
import { createResolver, isUnknownName, type Resolve } from './resolver.ts'

/**
 * The field with the client's address: its name in messages, and the error code for refusing it.
 */
export interface AddressField {
  name: string
  /** Dotted path in the body of a submit. */
  param: string
  code: ErrorCode
}

export const AUDIO_URL: AddressField = {
  name: 'audio_url',
  param: 'input.audio_url',
  code: 'INVALID_AUDIO_URL',
}

export interface RouteOptions {
  /**
   * Addresses in these ranges are reachable although not public, also over http and on any port.
   */
  allowCidrs: readonly string[]
  /** Ports on which public hosts may be contacted. */
  ports?: readonly number[]
  /** Resolves all addresses of a name (default: the system's hosts file and name servers). */
  resolve?: Resolve
}

/** How one URL is reached. */
export interface Route {
  /**
   * Looks the name up, as `request` will do again, because the result may change in between.
   * @throws ServiceError with the field's code, also if the name does not exist; whatever the
   *   resolver throws if its name servers fail
   */
  checkName(signal: AbortSignal): Promise<void>
  /**
   * Like `request` of http-request.ts, but connects only to allowed addresses.
   * @throws ServiceError with the field's code for others; the error that `faultOf` returns
   */
  request(options: PublicRequestOptions): Promise<HttpResponse>
}

export type PublicRequestOptions = Omit<RequestOptions, 'guard'> & {
  /** Returns why a public address to which a socket has connected is refused anyway. */
  faultOf?: AddressGuard['faultOf']
}

/**
 * Returns the route to `url`, which messages call `subject` (by default, the name of the field).
 * @throws ServiceError with the field's code if the text of the URL is enough to refuse it
 */
export type Router = (url: URL, subject?: string) => Route

type AddressTest = (address: string) => boolean

/** At most this many addresses of a name are tried, but all are checked. */
const ADDRESSES_MAX = 16

/** Creates the error for a problem with the URL itself. */
const addressError = (field: AddressField, message: string, cause?: unknown) =>
  new ServiceError(field.code, { message, param: field.param, cause })

const notHttps = (field: AddressField, url: URL, subject: string) =>
  addressError(field, `${subject} must use https, not ${url.protocol.slice(0, -1)}.`)

/**
 * Creates a router, which chooses the route to a URL given in `field`, or refuses it by its text.
 */
export function createRouter(field: AddressField, options: RouteOptions): Router {
  const { allowCidrs, ports = [443], resolve = createResolver() } = options
  const portNames = ports.join(' or ')
  const isAllowListed = matchesCidrs(allowCidrs)
  const isReachable = (address: string) => isPublicAddress(address) || isAllowListed(address)
  const notPublic =
    `${field.name} must lead to a public address; ` +
    'private, local and reserved ones, and names that lead to none, are refused.'
  const notHttpsOrPort = `${field.name} must use https on port ${portNames}.`
  const refusing = (message: string) => (cause?: unknown) => addressError(field, message, cause)
  const ordinary = createGuard(resolve, isReachable, refusing(notPublic))
  const intranet = createGuard(resolve, isAllowListed, refusing(notHttpsOrPort))

  return (url, subject = field.name) => {
    if (url.username || url.password) {
      throw addressError(field, `${subject} must not carry a user name or password.`)
    }
    const host = url.hostname.replace(/^\[|\]$/g, '')
    const isLiteral = isIP(host) > 0 // Node does not call `lookup` for these
    const routeBy = ({ resolveChecked, faultOf: publicFaultOf }: Guard): Route => ({
      async checkName(signal) {
        if (!isLiteral) await resolveChecked(host, signal)
      },
      request({ faultOf, ...requestOptions }) {
        const lookup = lookupBy(() => resolveChecked(host, requestOptions.signal))
        const guard: AddressGuard = {
          lookup,
          faultOf: (address) => publicFaultOf(address) ?? faultOf?.(address),
        }
        return request(url, { ...requestOptions, guard })
      },
    })
    if (url.protocol === 'https:' && ports.includes(Number(url.port || 443))) {
      if (isLiteral && !isReachable(host)) throw addressError(field, notPublic)
      return routeBy(ordinary)
    }
    if (isLiteral ? isAllowListed(host) : allowCidrs.length > 0) return routeBy(intranet)
    if (url.protocol !== 'https:') throw notHttps(field, url, subject)
    throw addressError(field, `${subject} must use port ${portNames}, not ${url.port || 443}.`)
  }
}

interface Guard {
  /** Returns the addresses of a name, unless it has none or one of them is not allowed. */
  resolveChecked: Resolve
  faultOf: AddressGuard['faultOf']
}

/**
 * Checks every address of every look-up, since a name server's answers may change. An unknown name
 * is refused in the same way as one that leads to a private address; otherwise clients could learn
 * which names an intranet has. The error's cause, which is logged, tells which it was.
 */
function createGuard(
  resolve: Resolve,
  accepts: AddressTest,
  refusal: (cause?: unknown) => ServiceError,
): Guard {
  return {
    async resolveChecked(hostname, signal) {
      const addresses = await resolve(hostname, signal).catch((error: unknown) => {
        throw isUnknownName(error) ? refusal(error) : error
      })
      const [first] = addresses // with none, Node's own code throws an uncatchable error
      if (!first || !addresses.every(({ address }) => accepts(address))) throw refusal()
      return addresses.slice(0, ADDRESSES_MAX)
    },
    faultOf: (address) => (accepts(address) ? undefined : refusal()),
  }
}

const lookupBy =
  (addressesOf: () => Promise<LookupAddress[]>): LookupFunction =>
  (_hostname, _options, done) => {
    addressesOf().then(
      (addresses) => done(null, addresses),
      (error) => done(error, []),
    )
  }

interface ParseOptions {
  /** What messages call the URL (default: the name of the field). */
  subject?: string
  base?: URL
}

/**
 * Parses `text` as an http or https URL, relative to `base`.
 * @throws ServiceError with the field's code
 */
export function parseUrl(
  field: AddressField,
  text: string,
  { subject = field.name, base }: ParseOptions = {},
): URL {
  if (!URL.canParse(text, base?.href)) {
    throw addressError(field, `${subject} is not a valid URL; https://host/path would be right.`)
  }
  const url = new URL(text, base)
  if (url.protocol !== 'https:' && url.protocol !== 'http:') throw notHttps(field, url, subject)
  return url
}

/** Describes a failed connection without the addresses that Node's own messages contain. */
export function describeNetworkError(error: unknown): string {
  const code = codeOf(error)
  if (code === 'ETIMEOUT') return 'its name server did not answer in time'
  if (isOfNameServer(error)) return 'its host name could not be looked up'
  if (isTlsFault(error)) return 'its TLS certificate or connection is not valid'
  if (code === 'ETIMEDOUT') return 'it did not answer in time'
  return 'the connection failed or broke off'
}

/** Whether TLS failed for a permanent reason, such as an untrusted certificate. */
export const isTlsFault = (error: unknown): boolean =>
  /CERT|LEAF_SIGNATURE|^ERR_SSL|^ERR_TLS|^EPROTO$/.test(codeOf(error))

/** Whether this is an error of node:dns. */
const isOfNameServer = (error: unknown): boolean =>
  ((error as NodeJS.ErrnoException | undefined)?.syscall ?? '').startsWith('query')

const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException | undefined)?.code ?? ''
