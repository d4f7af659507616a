/**
 * The way to an address that a client names. A private one is refused three times: as a literal in
 * the URL, where a name is resolved (by the lookup that the connection itself uses, so that nothing
 * can change in between) and on the connected socket.
 */

import type { LookupAddress } from 'node:dns'
import { lookup as systemLookup } from 'node:dns/promises'
import { isIP, type LookupFunction } from 'node:net'
import { Agent, buildConnector } from 'undici'
import { ServiceError } from './errors.ts'
import { isPublicAddress, matchesCidrs } from './public-address.ts'

export interface RouteOptions {
  /** Addresses of these ranges are reached although not public, also by http and on any port. */
  allowCidrs: readonly string[]
  /** Ports on which a public host may be asked. */
  ports?: readonly number[]
  /** Every address of a name; the system's resolver when absent. */
  resolve?: Resolve
  connectMsMax: number
}

/**
 * The agent that may be asked for `url`; `subject` is what messages call it.
 * @throws ServiceError `INVALID_AUDIO_URL`, as the agent does once it knows the address
 */
export type Router = (url: URL, subject: string) => Agent

export type Resolve = (hostname: string) => Promise<LookupAddress[]>

type AddressTest = (address: string) => boolean

const NOT_PUBLIC =
  'audio_url must lead to a public address; private, local and reserved ones are refused.'

const systemResolve: Resolve = (hostname) => systemLookup(hostname, { all: true })

/** Says that the URL is at fault, not the world. */
export const refused = (message: string) =>
  new ServiceError('INVALID_AUDIO_URL', { message, param: 'input.audio_url' })

const notHttps = (url: URL, subject: string) =>
  refused(`${subject} must use https, not ${url.protocol.slice(0, -1)}.`)

/** Chooses the way to a URL, or refuses it as far as its text alone can tell. */
export function createRouter(options: RouteOptions): Router {
  const { allowCidrs, ports = [443], resolve = systemResolve, connectMsMax } = options
  const portNames = ports.join(' or ')
  const isAllowListed = matchesCidrs(allowCidrs)
  const isReachable = (address: string) => isPublicAddress(address) || isAllowListed(address)
  const agent = (accepts: AddressTest, refusal: string) => {
    const connect = createConnector({ accepts, refusal, resolve, connectMsMax })
    return new Agent({ connect, pipelining: 0 }) // 0: no connection outlives its answer
  }
  const ordinary = agent(isReachable, NOT_PUBLIC)
  const intranet = agent(isAllowListed, `audio_url must use https on port ${portNames}.`)

  return (url, subject) => {
    if (url.username || url.password) {
      throw refused(`${subject} must not carry a user name or password.`)
    }
    const address = url.hostname.replace(/^\[|\]$/g, '')
    const isLiteral = isIP(address) > 0 // Node asks no lookup about these
    if (url.protocol === 'https:' && ports.includes(Number(url.port || 443))) {
      if (isLiteral && !isReachable(address)) throw refused(NOT_PUBLIC)
      return ordinary
    }
    if (isLiteral ? isAllowListed(address) : allowCidrs.length > 0) return intranet
    if (url.protocol !== 'https:') throw notHttps(url, subject)
    throw refused(`${subject} must use port ${portNames}, not ${url.port || 443}.`)
  }
}

interface ConnectorOptions {
  accepts: AddressTest
  refusal: string
  resolve: Resolve
  connectMsMax: number
}

/** Connects to addresses that `accepts`, whatever the name server says from moment to moment. */
function createConnector(options: ConnectorOptions): buildConnector.connector {
  const { accepts, refusal, resolve, connectMsMax } = options
  // autoSelectFamily makes Node ask for all addresses: one bad one among them condemns the name.
  const lookup: LookupFunction = (hostname, _options, done) => {
    resolve(hostname).then((addresses) => {
      const [first] = addresses // with none, Node's own code throws where nobody can catch
      const areAccepted = first && addresses.every(({ address }) => accepts(address))
      done(areAccepted ? null : refused(refusal), addresses)
    }, (error) => done(error, []))
  }
  const connect = buildConnector({ lookup, autoSelectFamily: true, timeout: connectMsMax })
  return (target, done) =>
    connect(target, (...result) => {
      const [error, socket] = result
      if (error || accepts(socket.remoteAddress ?? '')) return done(...result)
      socket.destroy()
      done(refused(refusal), null)
    })
}

/** `text` as an http or https URL, relative to `base`. */
export function parseUrl(text: string, subject: string, base?: URL): URL {
  if (!URL.canParse(text, base?.href)) {
    throw refused(`${subject} is not a valid URL; https://host/path would be right.`)
  }
  const url = new URL(text, base)
  if (url.protocol !== 'https:' && url.protocol !== 'http:') throw notHttps(url, subject)
  return url
}
