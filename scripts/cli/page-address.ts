/** The address of the page, with a one-time code that signs in. */

interface PageAddressOptions {
  /** The service's, as browsers reach it. */
  address: string
  /** As this machine reaches it; the same unless given. */
  listening?: string
  key: string
  /** The request that the page shows. */
  requestId?: string | undefined
}

/**
 * The code is in the fragment, which no server and no log sees. Without one, because the service
 * makes none now, the page asks for a key. Undefined: there is no page.
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
