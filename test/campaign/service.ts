/** The service as a campaign's clients and admin call it: retried until it answers. */

import { setTimeout as sleep } from 'node:timers/promises'
import {
  ApiError,
  createClient,
  type Client,
  type RequestList,
} from '../../clients/typescript/node.ts'
import { call } from '../../clients/typescript/call.ts'
import type { AccountAtTheEnd, ListedRequest } from './history.ts'

/** Longer than any answer takes on a busy machine. */
const ANSWER_MS_MAX = 10_000
const PAUSE_MS = { least: 100, most: 700 }

export interface Account {
  id: string
  name: string
  isMetered: boolean
  /** Seconds credited so far. */
  credited: number
  /** The key that its clients use now. */
  key: { id: string; secret: string }
}

export class Service {
  /** Aborts all calls at the end of the campaign. */
  readonly over = new AbortController()
  readonly #url: string
  readonly #adminToken: string

  constructor(url: string, adminToken: string) {
    this.#url = url
    this.#adminToken = adminToken
  }

  /** Returns a client with the account's current key; `signal` aborts its calls. */
  clientOf({ key }: Account, signal: AbortSignal): Client {
    const either = AbortSignal.any([signal, this.over.signal])
    const options = { signal: either, retries: 0 } // the history records each call
    return createClient({ baseUrl: this.#url, apiKey: key.secret, ...options })
  }

  /**
   * Retries `attempt` until it succeeds or is refused for good.
   * @throws ApiError on such a refusal; the signal's reason when the campaign is over
   */
  async persistently<T>(
    account: Account,
    attempt: (client: Client) => Promise<T>,
    onUncertain: () => void = () => undefined,
  ): Promise<T> {
    for (;;) {
      const { id } = account.key
      try {
        return await attempt(this.clientOf(account, AbortSignal.timeout(ANSWER_MS_MAX)))
      } catch (error) {
        this.over.signal.throwIfAborted()
        const status = error instanceof ApiError ? error.status : undefined
        const isOfOldKey = status === 401 && id !== account.key.id
        if (status === undefined || status >= 500) onUncertain()
        else if (status !== 429 && !isOfOldKey) throw error
      }
      await sleep(PAUSE_MS.least + (PAUSE_MS.most - PAUSE_MS.least) * Math.random())
    }
  }

  async createAccount(name: string, isMetered: boolean): Promise<Account> {
    const body = { name, metered: isMetered }
    const { account_id: id } = await this.#admin<{ account_id: string }>('/admin/accounts', body)
    return { id, name, isMetered, credited: 0, key: await this.createKey(id) }
  }

  async createKey(accountId: string): Promise<Account['key']> {
    const scopes = ['models:read', 'files:write', 'files:read', 'audio:separate']
    const body = { account_id: accountId, scopes }
    const created = await this.#admin<{ key_id: string; key: string }>('/admin/keys', body)
    return { id: created.key_id, secret: created.key }
  }

  /** Resolves when the revocation is confirmed: from then on the key must be refused. */
  async revokeKey(keyId: string): Promise<void> {
    await this.#admin(`/admin/keys/${keyId}/revoke`, {})
  }

  /** Credits the account; must be called once per reference. */
  async credit(account: Account, seconds: number, reference: string): Promise<void> {
    await this.#admin(`/admin/accounts/${account.id}/credit`, { seconds, reference })
    account.credited += seconds
  }

  /** Returns the account with all its requests. */
  async audit(account: Account): Promise<AccountAtTheEnd> {
    const requests: ListedRequest[] = []
    let cursor: string | null = ''
    while (cursor !== null) {
      const page: { limit: number; cursor: string } = { limit: 100, cursor }
      const list: RequestList = await this.persistently(account, (client) => client.list(page))
      for (const { request_id: requestId, prompt, status, error, webhook } of list.data) {
        const number = Number(prompt.split(' ')[1])
        const delivery = webhook?.delivery_status
        requests.push({ requestId, number, status, code: error?.code, delivery })
      }
      cursor = list.next_cursor
    }
    const state = await this.persistently(account, (client) => client.account())
    const { balance_seconds: balance, reserved_seconds: reserved } = state
    const { name, isMetered, credited } = account
    return { name, isMetered, credited, balance, reserved, requests }
  }

  /** Returns the status of a plain call with this key. */
  async statusWith(secret: string): Promise<number> {
    for (;;) {
      const reply = await fetch(`${this.#url}/v1/account`, {
        headers: { authorization: `Bearer ${secret}` },
        signal: AbortSignal.timeout(ANSWER_MS_MAX),
      }).catch(() => undefined)
      this.over.signal.throwIfAborted()
      await reply?.arrayBuffer().catch(() => undefined)
      if (reply && reply.status < 500) return reply.status
      await sleep(PAUSE_MS.least)
    }
  }

  /** Calls the admin API until it answers. */
  async #admin<T>(path: string, body: object): Promise<T> {
    for (;;) {
      try {
        const reply = await call(`${this.#url}${path}`, {
          method: 'POST',
          headers: {
            authorization: `Bearer ${this.#adminToken}`,
            'content-type': 'application/json',
          },
          body: JSON.stringify(body),
          signal: AbortSignal.any([AbortSignal.timeout(ANSWER_MS_MAX), this.over.signal]),
        })
        return (await reply.json()) as T
      } catch (error) {
        this.over.signal.throwIfAborted()
        if (error instanceof ApiError && (error.status ?? 500) < 500) throw error
      }
      await sleep(PAUSE_MS.least)
    }
  }
}
