/** Makes the address of the page, with a one-time code that signs in. */

interface PageAddressOptions {
  /** The service's address for browsers. */
  address: string
  /** Its address from this machine (default: the same). */
  listening?: string
  key: string
  /** The request that the page is to show. */
  requestId?: string | undefined
}

/**
 * The code is in the fragment, which neither servers nor logs see. If the service makes no code
 * now, the address has none, and the page asks for a key. Undefined if there is no page.
 */
export async function pageAddress({
  address,
  listening = address,
  key,
  requestId,
}: PageAddressOptions): Promise<string | undefined> {
  const headers = { authorization: `Bearer ${key}` }
  const reply = await fetch(`${listening}/playground/codes`, { method: 'POST', headers })
  if (reply.status === 404) return undefined // PLAYGROUND=off
  const fragment = new URLSearchParams()
  if (reply.status === 201) fragment.set('code', ((await reply.json()) as { code: string }).code)
  if (requestId !== undefined) fragment.set('request', requestId)
  return fragment.size > 0 ? `${address}/#${fragment}` : `${address}/`
}
