/**
 * Posts to addresses that clients name, such as those of webhooks: by a public route only, within
 * limits of time and size, and never on to where the answer points.
 */

import type { Dispatcher } from 'undici'
import { request } from './http-request.ts'
import { ServiceError } from './errors.ts'
import {
  createRouter, faultOnTheWay, parseUrl, type AddressField, type RouteOptions,
} from './public-route.ts'

export interface PublicPost {
  /**
   * Refuses a URL to which nothing may be posted. One whose name does not resolve now passes: it
   * may later, and every post checks anew.
   * @throws ServiceError `INVALID_WEBHOOK_URL`
   */
  check(url: string): Promise<void>
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

export type PublicPostOptions = Omit<RouteOptions, 'connectMsMax'> & {
  limits?: Partial<typeof LIMITS>
}

export const WEBHOOK_URL: AddressField = {
  name: 'webhookUrl', param: 'webhookUrl', code: 'INVALID_WEBHOOK_URL',
}

const LIMITS = {
  resolveMsMax: 5_000,
  connectMsMax: 10_000,
  /** For all of a post: resolving, connecting, sending and reading. */
  postMsMax: 15_000,
  /** Of the answer, which nobody looks at. */
  answerBytesMax: 64_000,
}

/** Builds the module for one process; it holds no connections between calls. */
export function createPublicPost(options: PublicPostOptions): PublicPost {
  const limits = { ...LIMITS, ...options.limits }
  const route = createRouter(WEBHOOK_URL, { ...options, connectMsMax: limits.connectMsMax })

  return {
    async check(url) {
      const resolved = route(parseUrl(WEBHOOK_URL, url)).checkName().catch((error: unknown) => {
        if (error instanceof ServiceError) throw error
      })
      await Promise.race([resolved, rest(limits.resolveMsMax)])
    },
    async post(url, message, signal) {
      const controller = new AbortController()
      const stop = () => controller.abort()
      let isLate = false
      const timer = setTimeout(() => {
        isLate = true
        stop()
      }, limits.postMsMax)
      signal.addEventListener('abort', stop, { once: true })
      try {
        signal.throwIfAborted()
        const target = parseUrl(WEBHOOK_URL, url)
        const answer = await request(target, {
          method: 'POST', dispatcher: route(target).agent, ...requestOf(message),
          signal: controller.signal,
        })
        await drain(answer, limits.answerBytesMax)
        return { status: answer.statusCode, retryAfter: retryAfterOf(answer) }
      } catch (error) {
        if (error instanceof ServiceError) return { problem: error.message }
        const late = `it took longer than ${limits.postMsMax / 1000} seconds`
        const fault = isLate ? late : faultOnTheWay(error)
        return { problem: `webhookUrl could not be reached: ${fault}.` }
      } finally {
        clearTimeout(timer)
        signal.removeEventListener('abort', stop)
      }
    },
  }
}

/** A timer that keeps no process alive. */
const rest = (ms: number) => new Promise<void>((resolve) => void setTimeout(resolve, ms).unref())

const requestOf = ({ headers, body }: PostMessage) => ({
  headers: { 'accept-encoding': 'identity', 'user-agent': 'Winnow', ...headers },
  body,
})

/** Reads a little of the answer, so that the other side can end it in peace; then hangs up. */
async function drain({ body }: Dispatcher.ResponseData, bytesMax: number): Promise<void> {
  let bytes = 0
  body.on('error', () => {}) // undici reports the early end as an error
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

function retryAfterOf({ headers }: Dispatcher.ResponseData): string | undefined {
  const value = headers['retry-after']
  return Array.isArray(value) ? value[0] : value
}
