/**
 * Looks up names in addresses that clients give. The system's own look-up, `getaddrinfo`, blocks
 * one of the process's few worker threads until a name server answers, so a few slow servers would
 * stop all look-ups and file operations of the process. This resolver uses a socket and can be
 * canceled.
 */

import type { LookupAddress } from 'node:dns'
import { Resolver } from 'node:dns/promises'
import { readFile } from 'node:fs/promises'
import { isIP } from 'node:net'
import { withDeadline } from '../deadline.ts'

/**
 * Returns every address of a name.
 * @throws an error with the code `ENOTFOUND`, `ETIMEOUT`, or another of node:dns; the signal's
 *   reason
 */
export type Resolve = (hostname: string, signal: AbortSignal) => Promise<LookupAddress[]>

interface ResolverOptions {
  /** Name servers as `address:port` (default: those of the system). */
  servers?: readonly string[]
  hostsPath?: string
  settingsPath?: string
  /** Timeout in milliseconds for all queries about one name together. */
  resolveMsMax?: number
}

const RESOLVE_MS_MAX = 5_000
/** The share of that time after which the query is repeated; it doubles with each repeat. */
const FIRST_TRY = 0.3
const QUERIES_MAX = 3
/** More would only make it more expensive to look up a client's name. */
const SEARCH_DOMAINS_MAX = 6

/**
 * Resolves names as most systems do: first with the hosts file, then with the name servers. They
 * are asked for the name itself and, if it does not exist, for the name in each search domain,
 * which short names of an intranet need. Other sources in nsswitch.conf (mDNS, LDAP) are not used.
 */
export function createResolver(options: ResolverOptions = {}): Resolve {
  const {
    servers,
    hostsPath = '/etc/hosts',
    settingsPath = '/etc/resolv.conf',
    resolveMsMax = RESOLVE_MS_MAX,
  } = options

  return async (hostname, signal) => {
    const name = hostname.toLowerCase().replace(/\.$/, '')
    const local = addressesInHosts(await readIfThere(hostsPath), name)
    if (local.length > 0) return local
    const domains = hostname.endsWith('.') ? [] : searchDomains(await readIfThere(settingsPath))
    const names = [name, ...domains.map((domain) => `${name}.${domain}`)]
    return withDeadline({ ms: resolveMsMax, timeoutError, signal }, (deadline) =>
      askServers(newResolver(servers, resolveMsMax), names, deadline),
    )
  }
}

const timeoutError = () =>
  Object.assign(new Error('no name server answered in time'), { code: 'ETIMEOUT' })

/**
 * Creates a resolver for one call, which can be canceled alone and uses the system's current
 * servers.
 */
function newResolver(servers: readonly string[] | undefined, resolveMsMax: number): Resolver {
  const resolver = new Resolver({
    timeout: Math.ceil(resolveMsMax * FIRST_TRY),
    tries: QUERIES_MAX,
  })
  if (servers) resolver.setServers(servers)
  return resolver
}

/** Returns the addresses of the first name that has any. */
async function askServers(
  resolver: Resolver,
  names: readonly string[],
  deadline: AbortSignal,
): Promise<LookupAddress[]> {
  deadline.addEventListener('abort', () => resolver.cancel(), { once: true })
  let notFound: unknown
  for (const name of names) {
    deadline.throwIfAborted()
    try {
      return await addressesOf(resolver, name)
    } catch (error) {
      if (!isUnknownName(error)) throw error
      notFound ??= error
    }
  }
  throw notFound
}

/** Returns the addresses once both queries have ended, since one kind of address is enough. */
async function addressesOf(resolver: Resolver, name: string): Promise<LookupAddress[]> {
  const [four, six] = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)])
  const addresses = [...asAddresses(four, 4), ...asAddresses(six, 6)]
  if (addresses.length > 0) return addresses
  const faults = [four, six].flatMap((result) =>
    result.status === 'rejected' ? [result.reason as unknown] : [],
  )
  throw faults.find((fault) => !isUnknownName(fault)) ?? faults[0]
}

const asAddresses = (result: PromiseSettledResult<string[]>, family: number): LookupAddress[] =>
  result.status === 'fulfilled' ? result.value.map((address) => ({ address, family })) : []

/** Whether a name has no address, as name servers say, or can't have one, being too long. */
export const isUnknownName = (error: unknown): boolean =>
  ['ENOTFOUND', 'ENODATA', 'EBADNAME'].includes(
    String((error as { code?: unknown } | undefined)?.code),
  )

/** Returns the addresses of `name` in a hosts file, whose lines have an address and its names. */
function addressesInHosts(text: string, name: string): LookupAddress[] {
  const addresses = linesOf(text).flatMap(([address = '', ...names]) =>
    isIP(address) > 0 && names.some((other) => other.toLowerCase() === name) ? [address] : [],
  )
  return [...new Set(addresses)].map((address) => ({ address, family: isIP(address) }))
}

/** Returns the domains in the last `search` or `domain` line of a resolv.conf. */
function searchDomains(text: string): string[] {
  const domains = linesOf(text).findLast(([key]) => key === 'search' || key === 'domain') ?? []
  return domains.slice(1, 1 + SEARCH_DOMAINS_MAX).filter((domain) => domain !== '.')
}

/** Returns the words of each line, without comments. */
const linesOf = (text: string): string[][] =>
  text.split('\n').map((line) =>
    line
      .replace(/[#;].*/, '')
      .trim()
      .split(/\s+/),
  )

async function readIfThere(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return ''
    throw error
  }
}
