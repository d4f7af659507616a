/**
 * The way to an address that a client names. A private one is refused three times: as a literal in
 * the URL, where a name is resolved (by the lookup that the connection itself uses, so that nothing
 * can change in between) and on the connected socket.
 */

import type { LookupAddress } from 'node:dns'
import { lookup as systemLookup } from 'node:dns/promises'
import { isIP, type LookupFunction } from 'node:net'
import { Agent, buildConnector } from 'undici'
import { ServiceError, type ErrorCode } from './errors.ts'
import { isPublicAddress, matchesCidrs } from './public-address.ts'

/** Where a client named the address: what messages call it, and the code that refuses it. */
export interface AddressField {
  name: string
  /** Dotted path in the body of a submit. */
  param: string
  code: ErrorCode
}

export const AUDIO_URL: AddressField = {
  name: 'audio_url', param: 'input.audio_url', code: 'INVALID_AUDIO_URL',
}

export interface RouteOptions {
  /** Addresses of these ranges are reached although not public, also by http and on any port. */
  allowCidrs: readonly string[]
  /** Ports on which a public host may be asked. */
  ports?: readonly number[]
  /** Every address of a name; the system's resolver when absent. */
  resolve?: Resolve
  connectMsMax: number
}

/** The way to one URL. */
export interface Route {
  /** Connects only to addresses that may be reached; otherwise it fails with the field's code. */
  agent: Agent
  /**
   * Looks the name up, as the agent will once more: what it finds may change in between.
   * @throws ServiceError with the field's code, or what the resolver throws
   */
  checkName(): Promise<void>
}

/**
 * The route to `url`, which messages call `subject`: the field's name when absent.
 * @throws ServiceError with the field's code for what the URL's text alone tells
 */
export type Router = (url: URL, subject?: string) => Route

export type Resolve = (hostname: string) => Promise<LookupAddress[]>

type AddressTest = (address: string) => boolean

const systemResolve: Resolve = (hostname) => systemLookup(hostname, { all: true })

/** Says that the URL is at fault, not the world. */
export const refused = (field: AddressField, message: string) =>
  new ServiceError(field.code, { message, param: field.param })

const notHttps = (field: AddressField, url: URL, subject: string) =>
  refused(field, `${subject} must use https, not ${url.protocol.slice(0, -1)}.`)

/** Chooses the way to a URL that came in `field`, or refuses it as far as its text can tell. */
export function createRouter(field: AddressField, options: RouteOptions): Router {
  const { allowCidrs, ports = [443], resolve = systemResolve, connectMsMax } = options
  const portNames = ports.join(' or ')
  const isAllowListed = matchesCidrs(allowCidrs)
  const isReachable = (address: string) => isPublicAddress(address) || isAllowListed(address)
  const way = (accepts: AddressTest, message: string) => {
    const guard = createGuard(resolve, accepts, () => refused(field, message))
    const connect = createConnector(guard, connectMsMax)
    return { guard, agent: new Agent({ connect, pipelining: 0 }) } // 0: no connection is kept
  }
  const notPublic =
    `${field.name} must lead to a public address; private, local and reserved ones are refused.`
  const ordinary = way(isReachable, notPublic)
  const intranet = way(isAllowListed, `${field.name} must use https on port ${portNames}.`)

  return (url, subject = field.name) => {
    if (url.username || url.password) {
      throw refused(field, `${subject} must not carry a user name or password.`)
    }
    const host = url.hostname.replace(/^\[|\]$/g, '')
    const isLiteral = isIP(host) > 0 // Node asks no lookup about these
    const routeOf = ({ agent, guard }: typeof ordinary): Route => ({
      agent,
      async checkName() {
        if (!isLiteral) await guard.lookup(host)
      },
    })
    if (url.protocol === 'https:' && ports.includes(Number(url.port || 443))) {
      if (isLiteral && !isReachable(host)) throw refused(field, notPublic)
      return routeOf(ordinary)
    }
    if (isLiteral ? isAllowListed(host) : allowCidrs.length > 0) return routeOf(intranet)
    if (url.protocol !== 'https:') throw notHttps(field, url, subject)
    throw refused(field, `${subject} must use port ${portNames}, not ${url.port || 443}.`)
  }
}

interface Guard {
  accepts: AddressTest
  refusal: () => ServiceError
  /** Every address of a name, unless one of them is not accepted. */
  lookup: Resolve
}

function createGuard(resolve: Resolve, accepts: AddressTest, refusal: Guard['refusal']): Guard {
  const lookup: Resolve = async (hostname) => {
    const addresses = await resolve(hostname)
    const [first] = addresses // with none, Node's own code throws where nobody can catch
    if (first && addresses.every(({ address }) => accepts(address))) return addresses
    throw refusal()
  }
  return { accepts, refusal, lookup }
}

/** Connects to addresses that are accepted, whatever the name server says from moment to moment. */
function createConnector(guard: Guard, connectMsMax: number): buildConnector.connector {
  // autoSelectFamily makes Node ask for all addresses: one bad one among them condemns the name.
  const lookup: LookupFunction = (hostname, _options, done) => {
    guard.lookup(hostname).then((addresses) => done(null, addresses), (error) => done(error, []))
  }
  const connect = buildConnector({ lookup, autoSelectFamily: true, timeout: connectMsMax })
  return (target, done) =>
    connect(target, (...result) => {
      const [error, socket] = result
      if (error || guard.accepts(socket.remoteAddress ?? '')) return done(...result)
      socket.destroy()
      done(guard.refusal(), null)
    })
}

interface ParseOptions {
  /** What messages call the URL; the field's name when absent. */
  subject?: string
  base?: URL
}

/** `text` as an http or https URL, relative to `base`. @throws ServiceError of the field's code */
export function parseUrl(
  field: AddressField, text: string, { subject = field.name, base }: ParseOptions = {},
): URL {
  if (!URL.canParse(text, base?.href)) {
    throw refused(field, `${subject} is not a valid URL; https://host/path would be right.`)
  }
  const url = new URL(text, base)
  if (url.protocol !== 'https:' && url.protocol !== 'http:') throw notHttps(field, url, subject)
  return url
}

/** What went wrong on the way, without the addresses that Node's own messages contain. */
export function faultOnTheWay(error: unknown): string {
  const code = codeOf(error)
  if (/^(ENOTFOUND|EAI_|ENODATA)/.test(code)) return 'its host name does not resolve'
  if (isTlsFault(error)) return 'its TLS certificate or connection is not valid'
  if (/TIMEOUT|^ETIMEDOUT$/.test(code)) return 'it did not answer in time'
  return 'the connection failed or broke off'
}

/** Whether the other side has no TLS that can be trusted: another try would not find any either. */
export const isTlsFault = (error: unknown): boolean =>
  /CERT|^ERR_SSL|^ERR_TLS|SELF_SIGNED|ISSUER|^EPROTO$/.test(codeOf(error))

const codeOf = (error: unknown): string =>
  String((error as { code?: unknown } | undefined)?.code ?? '')
