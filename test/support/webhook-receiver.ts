/** A server that webhooks are sent to: it keeps what comes, and answers as it is told. */

import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'

export interface Received {
  headers: IncomingHttpHeaders
  body: Buffer
  answer(status: number): void
}

/** Listens until the test ends. */
export async function startReceiver(t: TestContext) {
  const waiting: Received[] = []
  let wake = () => {}
  let everyAnswer: number | undefined
  const server = createServer(async (request, reply: ServerResponse) => {
    const pieces: Buffer[] = []
    for await (const piece of request) pieces.push(piece as Buffer)
    const answer = (status: number) => void reply.writeHead(status).end()
    if (everyAnswer !== undefined) answer(everyAnswer)
    waiting.push({ headers: request.headers, body: Buffer.concat(pieces), answer })
    wake()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    /** From now on all that comes is answered so, at once. */
    answerAll(status: number) {
      everyAnswer = status
    },
    /** What came first of all that was not taken yet; it waits for its answer. */
    async next(): Promise<Received> {
      while (waiting.length === 0) await new Promise<void>((resolve) => { wake = resolve })
      return waiting.shift()!
    },
  }
}
