/** A webhook receiver that keeps requests, and responds as the test decides. */

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
    /** Answers everything with this status from now on, immediately. */
    answerAll(status: number) {
      everyAnswer = status
    },
    /** Returns the next message, which waits for its response. */
    async next(): Promise<ReceivedWebhook> {
      while (waiting.length === 0)
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      return waiting.shift()!
    },
  }
}
