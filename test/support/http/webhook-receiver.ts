/** A receiver of webhooks: it keeps the requests, and responds as set by the test. */

import type { IncomingHttpHeaders } from 'node:http'
import type { TestContext } from 'node:test'
import { serve } from './serve.ts'

export interface ReceivedWebhook {
  headers: IncomingHttpHeaders
  body: Buffer
  answer(status: number): void
}

/** Listens until the test ends. */
export async function startReceiver(t: TestContext) {
  const waiting: ReceivedWebhook[] = []
  let wake = () => {}
  let everyAnswer: number | undefined
  const { url } = await serve(t, async (request, reply) => {
    const pieces: Buffer[] = []
    for await (const piece of request) pieces.push(piece as Buffer)
    const answer = (status: number) => void reply.writeHead(status).end()
    if (everyAnswer !== undefined) answer(everyAnswer)
    waiting.push({ headers: request.headers, body: Buffer.concat(pieces), answer })
    wake()
  })
  return {
    url: `${url}/hook`,
    /** From now on all that comes is answered so, at once. */
    answerAll(status: number) {
      everyAnswer = status
    },
    /** The first message not taken yet; it waits for its answer. */
    async next(): Promise<ReceivedWebhook> {
      while (waiting.length === 0)
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      return waiting.shift()!
    },
  }
}
