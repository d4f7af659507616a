/** A small HTTP server whose answers a test controls. */

import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'

/**
 * Serves on loopback until the test ends. Gives the `answers` in order, then repeats the last one.
 */
export async function serve(t: Pick<TestContext, 'after'>, ...answers: RequestListener[]) {
  let requests = 0
  const server = createServer((request, reply) => {
    answers[Math.min(requests++, answers.length - 1)]!(request, reply)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  return {
    /** Without a trailing slash. */
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** Number of requests so far. */
    requests: () => requests,
  }
}
