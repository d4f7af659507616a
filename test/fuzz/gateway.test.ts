/** A small part of what `npm run winnow -- fuzz http`, `grpc` and `crowds` do. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TEST_SEED } from '../support/basics/test-seed.ts'
import { fuzzCrowds } from './crowds.ts'
import { fuzzGrpc } from './grpc.ts'
import { fuzzHttp } from './http.ts'

test('raw bytes over HTTP are refused; no pair of requests is cut in two places', async (t) => {
  const { ends } = await fuzzHttp({ cases: 300, seed: TEST_SEED })
  t.diagnostic(JSON.stringify(ends))
  assert.ok((ends['pair: 400'] ?? 0) > 0 && (ends['pipeline: answered in order'] ?? 0) > 0)
})

test('damaged frames, floods of them and broken messages end no gateway', async (t) => {
  const { ends } = await fuzzGrpc({ cases: 150, seed: TEST_SEED })
  t.diagnostic(JSON.stringify(ends))
  assert.ok((ends.damaged ?? 0) > 0 && (ends['message: 8'] ?? 0) > 0)
})

test('others are served while crowds hold connections, heads, bodies and streams', async (t) => {
  const reports = await fuzzCrowds({ clients: 200, submits: 10 })
  t.diagnostic(JSON.stringify(reports))
})
