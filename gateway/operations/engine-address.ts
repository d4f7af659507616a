/** Calls engines only at addresses in the networks that a setting names. */

import type { LookupAddress } from 'node:dns'
import { isIP } from 'node:net'
import { connectEngine, type EngineClient } from '../../shared/engine-control.ts'
import { matchesCidrs } from '../../shared/http/public-address.ts'
import { createResolver } from '../../shared/http/resolver.ts'
import type { Tls } from '../../shared/process/tls-files.ts'

const RESOLVE_MS_MAX = 2_000
const ADDRESS = /^(?:\[(?<ipv6>[\da-f:.]+)\]|(?<host>[\w.-]+)):(?<port>\d{1,5})$/i

/**
 * Returns a function that connects to an engine at `host:port`. A name is looked up only once, so
 * that the address that is checked is the one that is called. The function throws an Error if the
 * address has another form or is in none of the networks.
 */
export function engineConnector(
  networks: readonly string[],
  tls?: Tls,
): (address: string) => Promise<EngineClient> {
  const isAllowed = matchesCidrs(networks)
  const resolve = createResolver()
  const addressesOf = async (name: string): Promise<LookupAddress[]> =>
    isIP(name) > 0
      ? [{ address: name, family: isIP(name) }]
      : resolve(name, AbortSignal.timeout(RESOLVE_MS_MAX))
  return async (address) => {
    const { ipv6, host, port } = ADDRESS.exec(address)?.groups ?? {}
    const name = ipv6 ?? host
    if (name === undefined) throw new Error('the address does not have the form host:port')
    const allowed = (await addressesOf(name)).find(({ address }) => isAllowed(address))
    if (!allowed) throw new Error(`${name} is in no network of ENGINE_NETWORKS`)
    const place = allowed.family === 6 ? `[${allowed.address}]` : allowed.address
    return connectEngine(`${place}:${port}`, { tls, name })
  }
}
