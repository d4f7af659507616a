/**
 * The TypeScript client with a status stream that falls silent. Alone in its file, because fetch
 * keeps timers that one test has replaced, which would disturb others.
 */

import assert from 'node:assert/strict'
import type { RequestListener, ServerResponse } from 'node:http'
import test from 'node:test'
import { createClient } from '../../../clients/typescript/client.ts'
import { serve } from '../../support/http/serve.ts'

const realTimeout = setTimeout

test('following opens a new stream when one stays silent', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  let givenUp = 0
  const says =
    (start: (reply: ServerResponse) => void): RequestListener =>
    (_, reply) => {
      reply.once('close', () => {
        if (!reply.writableEnded) givenUp += 1
      })
      start(reply)
    }
  const { url, requests } = await serve(
    t,
    says((reply) => reply.write('event: status\ndata: {"status":"IN_QUEUE"}\n\n')),
    says(() => undefined), // does not respond at all
    says((reply) => reply.end('event: status\ndata: {"status":"COMPLETED"}\n\n')),
  )
  const following = createClient({ baseUrl: url, apiKey: 'key' }).follow('req_1')
  assert.equal((await following.next()).value?.status, 'IN_QUEUE')
  const next = following.next()
  const silences: number[] = []
  for (const already of [1, 2]) {
    let seconds = 0
    for (; requests() === already && seconds < 300; seconds += 1) {
      await new Promise((resolve) => realTimeout(resolve, 2)) // real time, in which a new connection can open
      t.mock.timers.tick(1_000)
    }
    silences.push(seconds)
  }
  for (const seconds of silences) assert.ok(seconds >= 30 && seconds <= 40, `${silences} s`)
  assert.equal((await next).value?.status, 'COMPLETED')
  assert.equal(givenUp, 2, 'connections that were silent are closed')
})
