/** A small HTTP server with answers set by a test. */

import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'

/**
 * Serves on loopback until the test ends; `answers` are given in turn, the last one again and
 * again.
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
    /** Without a slash at its end. */
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** How many have come so far. */
    requests: () => requests,
  }
}
