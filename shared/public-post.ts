/**
 * Posts to addresses that clients name, such as those of webhooks: by a public route only, within
 * limits of time and size, and never on to where the answer points.
 */

import { withDeadline } from './deadline.ts'
import { ServiceError } from './errors.ts'
import type { Answer } from './http-request.ts'
import {
  createRouter, faultOnTheWay, parseUrl, type AddressField, type RouteOptions,
} from './public-route.ts'

export interface PublicPost {
  /**
   * Refuses a URL to which nothing may be posted. One whose name does not resolve now passes: it
   * may later, and every post checks anew.
   * @throws ServiceError `INVALID_WEBHOOK_URL`; the signal's reason
   */
  check(url: string, options?: { signal?: AbortSignal }): Promise<void>
  /**
   * Sends `body` once; never throws.
   * @param signal gives the post up; whether it arrived is then unknown
   */
  post(url: string, message: PostMessage, signal: AbortSignal): Promise<PostOutcome>
}

export interface PostMessage {
  headers: Readonly<Record<string, string>>
  body: Buffer
}

/** What the other side answered, or why it did not; a problem is told without any address. */
export type PostOutcome =
  | { status: number; retryAfter: string | undefined }
  | { problem: string }

export type PublicPostOptions = RouteOptions & {
  limits?: Partial<typeof LIMITS>
}

const WEBHOOK_URL: AddressField = {
  name: 'webhookUrl', param: 'webhookUrl', code: 'INVALID_WEBHOOK_URL',
}

const LIMITS = {
  connectMsMax: 10_000,
  /** For all of a post: resolving, connecting, sending and reading. */
  postMsMax: 15_000,
  /** Of the answer, which nobody looks at. */
  answerBytesMax: 64_000,
}

const NEVER = new AbortController().signal

/** Builds the module for one process; it holds no connections between calls. */
export function createPublicPost(options: PublicPostOptions): PublicPost {
  const limits = { ...LIMITS, ...options.limits }
  const { postMsMax, connectMsMax } = limits
  const waits = { connectMsMax, firstByteMsMax: postMsMax, silenceMsMax: postMsMax }
  const late = new Error(`it took longer than ${postMsMax / 1000} seconds`)
  const route = createRouter(WEBHOOK_URL, options)

  return {
    async check(url, { signal = NEVER } = {}) {
      await route(parseUrl(WEBHOOK_URL, url)).checkName(signal).catch((error: unknown) => {
        signal.throwIfAborted()
        if (error instanceof ServiceError) throw error
      })
    },
    async post(url, message, signal) {
      try {
        return await withDeadline({ ms: postMsMax, late: () => late, signal }, async (deadline) => {
          const way = route(parseUrl(WEBHOOK_URL, url))
          const answer = await way.request({ ...requestOf(message), waits, signal: deadline })
          await drain(answer, limits.answerBytesMax)
          return { status: answer.statusCode, retryAfter: answer.headers['retry-after'] }
        })
      } catch (error) {
        if (error instanceof ServiceError) return { problem: error.message }
        const fault = error === late ? late.message : faultOnTheWay(error)
        return { problem: `webhookUrl could not be reached: ${fault}.` }
      }
    },
  }
}

const requestOf = ({ headers, body }: PostMessage) => ({
  method: 'POST' as const,
  headers: { 'accept-encoding': 'identity', 'user-agent': 'Winnow', ...headers },
  body,
})

/** Reads a little of the answer, so that the other side can end it in peace; then hangs up. */
async function drain({ body }: Answer, bytesMax: number): Promise<void> {
  let bytes = 0
  try {
    for await (const piece of body) {
      bytes += (piece as Buffer).length
      if (bytes > bytesMax) break
    }
  } catch {
    // The status has been told, and nothing else counts.
  } finally {
    body.destroy()
  }
}
