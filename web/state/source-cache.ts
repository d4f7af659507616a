/** Keeps the media of requests in this browser, so that the page can play it after a reload. */

const CACHE = 'winnow-sources'
/** How many are kept; the oldest are dropped. */
const KEPT_MAX = 10

const addressOf = (requestId: string): string => `playground/sources/${requestId}`

/**
 * Browsers only have caches over HTTPS and on localhost, and some open none in a private window.
 * Without one, nothing is kept.
 */
async function openCache(): Promise<Cache | undefined> {
  try {
    return await globalThis.caches?.open(CACHE)
  } catch {
    return undefined
  }
}

export async function keepSource(requestId: string, bytes: Blob): Promise<void> {
  const cache = await openCache()
  if (!cache) return
  try {
    await cache.put(addressOf(requestId), new Response(bytes))
    const keys = await cache.keys()
    for (const oldest of keys.slice(0, -KEPT_MAX)) await cache.delete(oldest)
  } catch (error) {
    // The browser's storage is full; the page works without it.
    console.warn('The media of this request is not kept for a reload.', error)
  }
}

/** Null if it is not kept here. */
export async function loadSource(requestId: string): Promise<Blob | null> {
  const cache = await openCache()
  const response = await cache?.match(addressOf(requestId))
  return response ? response.blob() : null
}

export async function forgetSource(requestId: string): Promise<void> {
  await (await openCache())?.delete(addressOf(requestId))
}

export async function forgetSources(): Promise<void> {
  if (await openCache()) await caches.delete(CACHE)
}
