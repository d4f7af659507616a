/** HTTP requests to servers that need not mean well. */

import { request as undiciRequest, type Dispatcher } from 'undici'

type Options = Parameters<typeof undiciRequest<null>>[1]

/**
 * undici's `request`, with a body that never asks its parser to pause: a server that closes while
 * it is paused ends the whole process (nodejs/undici#5360; mended in 8, which Node 20 can't run).
 * So the caller must take the body as it comes, or give it up: nothing else bounds what is held.
 */
export const request = (
  url: string | URL, options: Options = {},
): Promise<Dispatcher.ResponseData> =>
  undiciRequest<null>(url, { ...options, highWaterMark: Number.MAX_SAFE_INTEGER })

/** Statuses that say "not now": the same request may be answered later. */
export const isTemporaryStatus = (status: number): boolean =>
  status >= 500 || status === 408 || status === 425 || status === 429
