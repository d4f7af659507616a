/**
 * Keeps the media of a request in this browser, so that a page that is loaded again can play it
 * and compare it. The service returns outputs alone.
 */

const CACHE = 'winnow-sources'
/** The newest that are kept. */
const KEPT_MAX = 10

const addressOf = (requestId: string): string => `playground/sources/${requestId}`

/** Browsers have caches over HTTPS and on localhost alone: elsewhere nothing is kept. */
const openCache = (): Promise<Cache> | undefined => globalThis.caches?.open(CACHE)

export async function keepSource(requestId: string, bytes: Blob): Promise<void> {
  const cache = await openCache()
  if (!cache) return
  try {
    await cache.put(addressOf(requestId), new Response(bytes))
    const kept = await cache.keys()
    for (const old of kept.slice(0, Math.max(0, kept.length - KEPT_MAX))) await cache.delete(old)
  } catch (error) {
    // The browser's storage is full: the page does without.
    console.warn('The media of this request is not kept for a reload.', error)
  }
}

/** Null: it is not kept here. */
export async function loadSource(requestId: string): Promise<Blob | null> {
  const cache = await openCache()
  const kept = await cache?.match(addressOf(requestId))
  return kept ? kept.blob() : null
}

export async function forgetSource(requestId: string): Promise<void> {
  await (await openCache())?.delete(addressOf(requestId))
}

export const forgetSources = async (): Promise<void> =>
  void (await globalThis.caches?.delete(CACHE))
