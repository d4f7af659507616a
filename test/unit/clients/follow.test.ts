/**
 * Alone in its file, because what `fetch` has started with real timers does not continue with
 * mocked ones.
 */

import assert from 'node:assert/strict'
import type { RequestListener } from 'node:http'
import test from 'node:test'
import { createClient } from '../../../clients/typescript/client.ts'
import { serve } from '../../support/http/serve.ts'

const completed: RequestListener = (_, reply) =>
  void reply.end('event: status\ndata: {"status":"COMPLETED"}\n\n')

test('following continues when a stream is silent for half a minute', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const silent: RequestListener = () => undefined
  const begun: RequestListener = (_, reply) =>
    void reply.writeHead(200, { 'content-type': 'text/event-stream' }).write(': begun\n\n')
  const { url, requests } = await serve(t, silent, begun, completed)
  const next = createClient({ baseUrl: url, apiKey: 'key' }).follow('req_1').next()
  let ended = false
  void next.finally(() => {
    ended = true
  })
  let waited = 0
  for (; !ended; waited += 1_000) {
    for (let turn = 0; turn < 100; turn += 1) await new Promise(setImmediate)
    if (requests() > 0) t.mock.timers.tick(1_000)
    assert.ok(waited < 300_000, 'it waits for ever')
  }
  assert.equal((await next).value?.status, 'COMPLETED')
  assert.ok(waited >= 60_000, `${waited} ms`)
})
