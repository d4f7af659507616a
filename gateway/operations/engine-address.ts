/** Calls engines at addresses of the networks that a setting names, and nowhere else. */

import type { LookupAddress } from 'node:dns'
import { isIP } from 'node:net'
import { connectEngine, type EngineClient } from '../../shared/engine-control.ts'
import { matchesCidrs } from '../../shared/http/public-address.ts'
import { createResolver } from '../../shared/http/resolver.ts'

const RESOLVE_MS_MAX = 2_000
const ADDRESS = /^(?:\[(?<ipv6>[\da-f:.]+)\]|(?<host>[\w.-]+)):(?<port>\d{1,5})$/i

/**
 * A function that connects to an engine at `host:port`. What a name means is looked up once, so
 * that the address which is checked is the one that is called.
 * @throws Error where the address has another form, or is in none of the networks
 */
export function engineConnector(
  networks: readonly string[],
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
    if (name === undefined) throw new Error('the address has not the form host:port')
    const found = (await addressesOf(name)).find((each) => isAllowed(each.address))
    if (!found) throw new Error(`${name} is in no network of ENGINE_NETWORKS`)
    const place = found.family === 6 ? `[${found.address}]` : found.address
    return connectEngine(`${place}:${port}`)
  }
}
