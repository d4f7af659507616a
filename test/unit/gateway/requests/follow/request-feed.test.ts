import assert from 'node:assert/strict'
import test from 'node:test'
import { RequestFeed } from '../../../../../gateway/requests/follow/request-feed.ts'
import type { RequestRow } from '../../../../../gateway/store/schema/tables.ts'

const LONG_MS = 60_000
const at = '2026-01-02T03:04:05.678Z'
const progress = (requestId: string, value = 0.5) => ({
  request_id: requestId,
  attempt_id: 'a',
  at,
  progress: value,
})

test('a change without a watcher is not lost', async () => {
  const feed = new RequestFeed(3)
  const watch = feed.watch('mine', 'account')
  feed.progressed(progress('mine'))
  assert.equal(await watch.wait(LONG_MS), 'progress')
  feed.rowChanged('mine')
  feed.progressed(progress('mine')) // older news than the row
  assert.equal(await watch.wait(LONG_MS), 'row')
  assert.equal(await watch.wait(1), 'time')
})

test('a watch for the end wakes for an end, and for changes by another gateway', async () => {
  const feed = new RequestFeed(3)
  const watch = feed.watch('mine', 'account', { isForEnd: true })
  feed.rowChanged('mine')
  feed.progressed(progress('mine'))
  assert.equal(await watch.wait(1), 'time')
  feed.rowChangedElsewhere('mine')
  assert.equal(await watch.wait(LONG_MS), 'row')
  assert.equal(watch.ended, undefined)
  const row = { request_id: 'mine', status: 'COMPLETED' } as RequestRow
  feed.rowChanged('mine', row)
  assert.equal(await watch.wait(LONG_MS), 'row')
  assert.equal(watch.ended, row)
  feed.close()
})

test("progress is that of the request's current attempt", () => {
  const feed = new RequestFeed(3)
  feed.progressed(progress('mine', 0.25))
  assert.equal(feed.progressOf('mine', 'a'), 0.25)
  assert.equal(feed.progressOf('mine', 'b'), undefined)
  assert.equal(feed.progressOf('yours', null), undefined)
  feed.forget('mine')
  assert.equal(feed.progressOf('mine', 'a'), undefined)
})

test('progress is kept for a bounded number of requests', () => {
  const feed = new RequestFeed(3)
  for (let i = 0; i < 10_001; i += 1) feed.progressed(progress(`request-${i}`))
  assert.equal(feed.progressOf('request-0', 'a'), undefined)
  assert.equal(feed.progressOf('request-1', 'a'), 0.5)
})
