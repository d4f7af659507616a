/**
 * The gateway behaves exactly as its API description says: no 500, no undocumented status or body,
 * invalid bodies refused, keys required. Schemathesis generates the cases with a fixed seed.
 */

import assert from 'node:assert/strict'
import test from 'node:test'
import { runSchemathesis } from '../support/http/schemathesis.ts'
import { API_KEY, startWinnow } from '../support/processes/start-winnow.ts'

test('schemathesis finds nothing', async (t) => {
  const winnow = await startWinnow(t, { engines: 0, env: { STREAM_WINDOW_SECONDS: '1' } })
  const fileId = await winnow.client.upload('examples/speech-over-piano.wav', 'audio/wav')
  const { code, output } = await runSchemathesis({ url: winnow.url, key: API_KEY, fileId })
  const cases = Number(/(\d+) generated/.exec(output)?.[1])
  assert.equal(code, 0, output)
  assert.ok(cases > 500, `${cases} cases`)
  t.diagnostic(`${cases} cases`)
  for (const [status, what] of [
    [202, 'accepted'],
    [400, 'refused'],
    [401, 'without a key'],
  ]) {
    assert.match(
      winnow.gateway.log(),
      new RegExp(`"path":"/v1/[^"]*","status":${status}`),
      String(what),
    )
  }
})
