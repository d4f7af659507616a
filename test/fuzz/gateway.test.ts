/** A small part of the cases that `npm run winnow -- fuzz http`, `grpc` and `crowds` run. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TEST_SEED } from '../support/basics/test-seed.ts'
import { fuzzCrowds } from './crowds.ts'
import { fuzzGrpc } from './grpc.ts'
import { fuzzHttp } from './http.ts'

test('raw bytes over HTTP are refused, and no request is smuggled behind another', async (t) => {
  const { ends } = await fuzzHttp({ cases: 300, seed: TEST_SEED })
  t.diagnostic(JSON.stringify(ends))
  assert.ok((ends['pair: 400'] ?? 0) > 0 && (ends['pipeline: answered in order'] ?? 0) > 0)
})

test('no damaged frame, flood of frames or broken message ends the gateway', async (t) => {
  const { ends } = await fuzzGrpc({ cases: 150, seed: TEST_SEED })
  t.diagnostic(JSON.stringify(ends))
  assert.ok((ends.damaged ?? 0) > 0 && (ends['message: 8'] ?? 0) > 0)
})

test('other clients are served while crowds hold connections, heads, bodies and streams', async (t) => {
  const reports = await fuzzCrowds({ clients: 200, submits: 10 })
  t.diagnostic(JSON.stringify(reports))
})
