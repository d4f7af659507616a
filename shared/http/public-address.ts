/**
 * Tells which IP addresses are public. public-route.ts refuses the others, unless an admin allows
 * them.
 */

import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

/** All IPv6 addresses assigned to internet hosts; the rest may be routed anywhere. */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3')

/** Public addresses that the cloud's own host serves: Azure's metadata and DNS. */
const CLOUD_HOSTS: readonly string[] = ['168.63.129.16']

/**
 * Whether `address` belongs to an ordinary internet host. Private, local, reserved, multicast and
 * translated addresses (IPv4-mapped, NAT64, 6to4, Teredo) do not, nor does anything that is not an
 * address.
 */
export function isPublicAddress(address: string): boolean {
  if (isIP(address) === 0 || address.includes('%') || CLOUD_HOSTS.includes(address)) return false
  const parsed = ipaddr.parse(address)
  if (parsed.range() !== 'unicast') return false
  return parsed instanceof ipaddr.IPv4 || parsed.match(GLOBAL_UNICAST)
}

/**
 * Returns what identifies the host of `address`: the address itself or, for IPv6, its /64, which
 * belongs to one host.
 */
export function networkOf(address: string): string {
  const parsed = isIP(address) === 0 ? undefined : ipaddr.process(address)
  if (!(parsed instanceof ipaddr.IPv6)) return parsed?.toString() ?? address
  return parsed.parts
    .slice(0, 4)
    .map((part) => part.toString(16))
    .join(':')
}

/**
 * Returns a test for membership in any of `cidrs`, such as `['10.1.0.0/16', 'fd00::/8']`.
 * @throws Error if one is not a CIDR
 */
export function matchesCidrs(cidrs: readonly string[]): (address: string) => boolean {
  const ranges = cidrs.map((cidr) => ipaddr.parseCIDR(cidr))
  return (address) => {
    if (isIP(address) === 0) return false
    const parsed = ipaddr.parse(address)
    return ranges.some((range) => range[0].kind() === parsed.kind() && parsed.match(range))
  }
}
