/**
 * Posts to addresses that clients name, such as webhooks, over public routes only and within limits
 * of time and size. Redirects are not followed.
 */

import { withDeadline } from '../../shared/deadline.ts'
import { ServiceError } from '../../shared/errors.ts'
import { FairShares } from '../../shared/fair-share.ts'
import type { HttpResponse } from '../../shared/http/http-request.ts'
import { networkOf } from '../../shared/http/public-address.ts'
import {
  createRouter,
  describeNetworkError,
  parseUrl,
  type AddressField,
  type RouteOptions,
} from '../../shared/http/public-route.ts'

export interface PublicPost {
  /**
   * Refuses a URL that must not be posted to. If its name servers do not answer now, it passes,
   * because every post checks it again.
   * @throws ServiceError `INVALID_WEBHOOK_URL`; the signal's reason
   */
  check(url: string, options?: { signal?: AbortSignal; param?: UrlParam }): Promise<void>
  /**
   * Sends `body` once; never throws.
   * @param signal aborts the post; it is then unknown whether it arrived
   */
  post(url: string, message: PostMessage, signal: AbortSignal): Promise<PostOutcome>
}

export interface PostMessage {
  headers: Readonly<Record<string, string>>
  body: Buffer
  /** The account that makes the post; accounts share the slots of an address. */
  accountId: string
  param?: UrlParam
}

/** The field of the address, for messages: of a submit (the default), or of an endpoint. */
export type UrlParam = 'webhookUrl' | 'url'

/**
 * The response, or a problem, whose text contains no IP address. With `isBusy`, nothing was sent,
 * because the account already has as many posts to that address in flight as it may, under any host
 * name.
 */
export type PostOutcome =
  { status: number; retryAfter: string | undefined } | { problem: string; isBusy?: true }

export type PublicPostOptions = RouteOptions & { limits?: Partial<typeof LIMITS> }

const fieldOf = (param: UrlParam): AddressField => ({
  name: param,
  param,
  code: 'INVALID_WEBHOOK_URL',
})

const LIMITS = {
  connectMsMax: 10_000,
  /** For the whole post: resolving, connecting, sending and reading. */
  postMsMax: 15_000,
  /** At most this much of a response is read; it is discarded. */
  responseBytesMax: 64_000,
  /** Concurrent posts to one address by all accounts together, which share them. */
  addressPostsMax: 8,
}

const NEVER = new AbortController().signal

/** Creates the poster, one per process. It holds no connections between calls. */
export function createPublicPost(options: PublicPostOptions): PublicPost {
  const limits = { ...LIMITS, ...options.limits }
  const { postMsMax, connectMsMax } = limits
  const waits = { connectMsMax, firstByteMsMax: postMsMax, silenceMsMax: postMsMax }
  const timeoutError = new Error(`it took longer than ${postMsMax / 1000} seconds`)
  const busy = new Error('too many concurrent posts to this host')
  const routers = {
    webhookUrl: createRouter(fieldOf('webhookUrl'), options),
    url: createRouter(fieldOf('url'), options),
  }
  const routeTo = (url: string, param: UrlParam) => routers[param](parseUrl(fieldOf(param), url))
  const addressSlots = new FairShares(limits.addressPostsMax)

  return {
    async check(url, { signal = NEVER, param = 'webhookUrl' } = {}) {
      await routeTo(url, param)
        .checkName(signal)
        .catch((error: unknown) => {
          signal.throwIfAborted()
          if (error instanceof ServiceError) throw error
        })
    },
    async post(url, message, signal) {
      const { accountId, param = 'webhookUrl' } = message
      let place: string | undefined
      const faultOf = (address: string) => {
        const network = networkOf(address)
        if (!addressSlots.take(network, accountId)) return busy
        place = network
        return undefined
      }
      try {
        return await withDeadline(
          { ms: postMsMax, timeoutError: () => timeoutError, signal },
          async (deadline) => {
            const response = await routeTo(url, param).request({
              ...requestOf(message),
              waits,
              signal: deadline,
              faultOf,
            })
            await drain(response, limits.responseBytesMax)
            return { status: response.statusCode, retryAfter: response.headers['retry-after'] }
          },
        )
      } catch (error) {
        if (error instanceof ServiceError) return { problem: error.message }
        const fault =
          [timeoutError, busy].find((ours) => ours === error)?.message ??
          describeNetworkError(error)
        const problem = `${param} could not be reached: ${fault}.`
        return error === busy ? { problem, isBusy: true } : { problem }
      } finally {
        if (place !== undefined) addressSlots.release(place, accountId)
      }
    },
  }
}

const requestOf = ({ headers, body }: PostMessage) => ({
  method: 'POST' as const,
  headers: { 'accept-encoding': 'identity', 'user-agent': 'Winnow', ...headers },
  body,
})

/**
 * Reads a little of the response, so that the receiver can finish it, and then closes the
 * connection.
 */
async function drain({ body }: HttpResponse, bytesMax: number): Promise<void> {
  let bytes = 0
  try {
    for await (const piece of body) {
      bytes += (piece as Buffer).length
      if (bytes > bytesMax) break
    }
  } catch {
    // The status is known, and nothing else matters.
  } finally {
    body.destroy()
  }
}
