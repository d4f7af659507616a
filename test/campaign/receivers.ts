/** Receivers of webhooks, each at an address of its own, which keep what they receive. */

import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { verifyWebhook, WebhookError } from '../../clients/typescript/node.ts'
import type { History } from './history.ts'

export const WEBHOOK_SECRET = 'a secret of the campaign'

export type Answer = { status: number; afterMs?: number } | 'none'

export interface Receiver {
  url: string
  /** How it responds from now on. */
  answer: Answer
}

const WORKS: Answer = { status: 204 }

/** @param now milliseconds since the start of the campaign */
export async function startReceivers(
  t: Pick<TestContext, 'after'>,
  count: number,
  { webhooks, now }: Pick<History, 'webhooks'> & { now: () => number },
): Promise<Receiver[]> {
  return Promise.all(
    Array.from({ length: count }, async (_, i) => {
      const receiver: Receiver = { url: '', answer: WORKS }
      const server = createServer((request, reply) => {
        void receive(request, reply, () => receiver.answer, { webhooks, now })
      })
      const host = `127.0.0.${i + 2}` // a gateway bounds its posts to one address
      await once(server.listen(0, host), 'listening')
      receiver.url = `http://${host}:${(server.address() as AddressInfo).port}/hook`
      t.after(() => {
        server.close()
        server.closeAllConnections()
      })
      return receiver
    }),
  )
}

/** From now on it works. */
export const repair = (receiver: Receiver): void => void (receiver.answer = WORKS)

async function receive(
  request: IncomingMessage,
  reply: ServerResponse,
  answerNow: () => Answer,
  { webhooks, now }: Pick<History, 'webhooks'> & { now: () => number },
): Promise<void> {
  const pieces: Buffer[] = []
  try {
    for await (const piece of request) pieces.push(piece as Buffer)
  } catch {
    return // it broke off: nothing was received
  }
  const body = Buffer.concat(pieces).toString()
  const answer = answerNow()
  const webhook = {
    at: now(),
    id: String(request.headers['webhook-id']),
    requestId: (JSON.parse(body) as { request_id: string }).request_id,
    body,
    isSigned: isSigned(body, request),
    answered: answer === 'none' ? undefined : answer.status,
  }
  webhooks.push(webhook)
  if (answer === 'none') return
  if (answer.afterMs !== undefined) await sleep(answer.afterMs)
  reply.writeHead(answer.status).end()
}

/** By the time that it states: clocks jump. */
function isSigned(body: string, { headers }: IncomingMessage): boolean {
  try {
    const now = 1_000 * Number(headers['webhook-timestamp'])
    verifyWebhook(WEBHOOK_SECRET, headers, body, { now })
    return true
  } catch (error) {
    if (error instanceof WebhookError) return false
    throw error
  }
}
