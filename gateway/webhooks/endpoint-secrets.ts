/** Keeps the secrets of endpoints readable when the key that encrypts them is replaced. */

import { decrypt, encrypt, type Keys } from '../secrets.ts'
import type { Store } from '../store/database.ts'
import { listAllEndpoints, replaceSecrets } from '../store/webhook-endpoints.ts'

const PAGE_MAX = 200

/**
 * Encrypts the secrets of all endpoints with the key that is used, so that the other accepted key
 * can be removed, as it can be for everything else once some days have passed. A secret that no key
 * opens is left as it is; its deliveries say so.
 */
export async function renewEndpointSecrets(store: Store, keys: Keys): Promise<void> {
  const [used, accepted] = keys
  if (accepted === undefined) return
  const renewed = (owner: string, text: string): string => {
    const isCurrent = opened([used], owner, text) !== undefined
    const plain = isCurrent ? undefined : opened(keys, owner, text)
    return plain === undefined ? text : encrypt(keys, owner, plain)
  }
  for (let after = ''; ;) {
    const page = await listAllEndpoints(store, { after, limit: PAGE_MAX })
    for (const row of page) {
      const { endpoint_id: id, secret, old_secret: old } = row
      const secrets = {
        secret: renewed(id, secret),
        old_secret: old === null ? null : renewed(id, old),
      }
      if (secrets.secret !== secret || secrets.old_secret !== old) {
        await replaceSecrets(store, row, secrets)
      }
    }
    if (page.length < PAGE_MAX) return
    after = page.at(-1)!.endpoint_id
  }
}

function opened(keys: Keys, owner: string, text: string): string | undefined {
  try {
    return decrypt(keys, owner, text)
  } catch {
    return undefined
  }
}
