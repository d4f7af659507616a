/** Receivers of webhooks, one host for each account. */

import type { PublicPost } from '../../gateway/webhooks/public-post.ts'
import type { Calls } from './calls.ts'
import type { Process } from './scheduler.ts'
import { Violation } from './violation.ts'

export interface WebhookCall {
  webhookId: string
  body: string
  times: number
}

export const webhookUrlOf = (account: string): string =>
  `https://${account.replace('_', '')}.receiver.test/hook`

export class Receivers {
  /** By request: what was accepted with 200. */
  readonly told = new Map<string, WebhookCall>()
  /** Requests of which no more is wanted. */
  readonly refused = new Set<string>()
  /** Called with what arrives. */
  onArrival: (requestId: string, status: string) => void = () => undefined
  readonly #calls: Calls
  readonly #seen = new Map<string, Pick<WebhookCall, 'webhookId' | 'body'>>()
  readonly #answers = new Map<string, number>()

  constructor(calls: Calls) {
    this.#calls = calls
  }

  /** Until further notice all of an account's webhooks are answered so; undefined: 200. */
  answer(account: string, status: number | undefined): void {
    const { host } = new URL(webhookUrlOf(account))
    if (status === undefined) this.#answers.delete(host)
    else this.#answers.set(host, status)
  }

  allWork(): void {
    this.#answers.clear()
  }

  /** The poster of a gateway; never throws, as the real one. */
  connect(owner: Process): PublicPost['post'] {
    return (url, { headers, body }, signal) => {
      const sent = this.#calls.toWorld(owner, 'post webhook', () =>
        this.#arrive(url, headers['webhook-id']!, body.toString()),
      )
      const aborted = new Promise<never>((_, reject) => {
        if (signal.aborted) reject(new Error('aborted'))
        signal.addEventListener('abort', () => reject(new Error('aborted')), { once: true })
      })
      return Promise.race([sent, aborted]).then(
        (status) => ({ status, retryAfter: undefined }),
        () => ({ problem: 'webhookUrl could not be reached.' }),
      )
    }
  }

  #mood(): number {
    const fault = this.#calls.choices.fault('receiver', ['answers 500', 'answers 410'])
    return fault === 'answers 500' ? 500 : fault === 'answers 410' ? 410 : 200
  }

  #arrive(url: string, webhookId: string, body: string): number {
    const { request_id: requestId, status } = JSON.parse(body) as Record<string, string>
    const seen = this.#seen.get(requestId!)
    if (seen && (seen.webhookId !== webhookId || seen.body !== body)) {
      const detail = `${requestId} has another at its next try`
      this.#calls.scheduler.report(new Violation('one webhook id and body a request', detail))
    }
    this.#seen.set(requestId!, { webhookId, body })
    this.onArrival(requestId!, status!)
    const answer = this.#answers.get(new URL(url).host) ?? this.#mood()
    if (answer === 410) this.refused.add(requestId!)
    if (answer !== 200) return answer
    const { times } = this.told.get(requestId!) ?? { times: 0 }
    this.told.set(requestId!, { webhookId, body, times: times + 1 })
    return 200
  }
}
