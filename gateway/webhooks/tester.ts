/** Sends a test event to a receiver, the way webhooks are sent. */

import { isoTime, type Clock } from '../../shared/clock.ts'
import { ServiceError } from '../../shared/errors.ts'
import { newId } from '../../shared/ids.ts'
import type { WebhookTestResult } from '../api/webhook-schemas.ts'
import { errorOf } from './outcome.ts'
import type { PublicPost, UrlParam } from './public-post.ts'
import { newWebhookSecret, signatureHeaders } from './signature.ts'

/**
 * How many tests an account may make per minute, counted over all gateways that share a PostgreSQL,
 * because a test posts to any address that the client names.
 */
export const TESTS_PER_MINUTE = 10

interface TesterOptions {
  post: PublicPost['post']
  clock: Clock
  /** Counts a test; its limit is `TESTS_PER_MINUTE`. */
  limiter: { count(name: string): Promise<{ left: number; resetSeconds: number } | undefined> }
}

interface Receiver {
  url: string
  param?: UrlParam
  /** Sign the event; if there is none, one is made. */
  secrets: readonly string[]
}

export class WebhookTester {
  readonly #options: TesterOptions

  constructor(options: TesterOptions) {
    this.#options = options
  }

  /**
   * Posts one event of the type `webhook.test` and waits for the answer. It is never retried.
   * @param signal aborts the attempt, which then counts as failed
   * @throws ServiceError `RATE_LIMITED`
   */
  async send(
    accountId: string,
    { url, param, secrets }: Receiver,
    signal: AbortSignal,
  ): Promise<WebhookTestResult> {
    await this.#count(accountId)
    const { clock, post } = this.#options
    const [id, now] = [newId('msg'), clock.now()]
    const body = Buffer.from(JSON.stringify({ type: 'webhook.test', created_at: isoTime(now) }))
    const made = secrets.length > 0 ? undefined : newWebhookSecret()
    const keys = made === undefined ? secrets : [made]
    const signature = signatureHeaders(keys, { id, timestamp: Math.floor(now / 1_000), body })
    const headers = { 'content-type': 'application/json', ...signature }
    const startedAt = clock.elapsed()
    const message = { headers, body, accountId, ...(param && { param }) }
    const outcome = await post(url, message, signal)
    const error = errorOf(outcome)
    return {
      webhook_id: id,
      delivered: error === null,
      status_code: 'status' in outcome ? outcome.status : null,
      error,
      duration_ms: Math.round(clock.elapsed() - startedAt),
      ...(made !== undefined && { signing_secret: made }),
    }
  }

  async #count(accountId: string): Promise<void> {
    const { left = 0, resetSeconds = 0 } =
      (await this.#options.limiter.count(`webhook-test ${accountId}`)) ?? {}
    if (left >= 0) return
    throw new ServiceError('RATE_LIMITED', {
      message: `An account may test ${TESTS_PER_MINUTE} receivers in a minute.`,
      retryAfterSeconds: resetSeconds,
    })
  }
}
