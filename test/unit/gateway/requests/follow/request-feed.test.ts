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

test('a change wakes the watchers of that request, and no others', async () => {
  const feed = new RequestFeed(3)
  const [mine, yours] = [feed.watch('mine', 'account'), feed.watch('yours', 'account')]
  const woken = mine.wait(LONG_MS)
  feed.rowChanged('mine')
  assert.equal(await woken, 'row')
  assert.equal(await yours.wait(1), 'time')
  feed.close()
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

test('a closed watch, and every watch of a closed feed, wakes as closed', async () => {
  const feed = new RequestFeed(3)
  const watches = [
    feed.watch('a', 'account'),
    feed.watch('b', 'account'),
    feed.watch('b', 'account'),
  ] as const
  const waiting = watches.map((watch) => watch.wait(LONG_MS))
  watches[0].close()
  feed.close()
  assert.deepEqual(await Promise.all(waiting), ['closed', 'closed', 'closed'])
  assert.equal(await feed.watch('c', 'account').wait(LONG_MS), 'closed')
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

test("an attempt's minimum time left is what it said last, whatever others said", () => {
  const feed = new RequestFeed(3)
  assert.equal(feed.secondsAtLeastOf('mine', 'a'), 0)
  feed.progressed({ ...progress('mine'), seconds_at_least: 15 })
  assert.equal(feed.secondsAtLeastOf('mine', 'a'), 15)
  assert.equal(feed.secondsAtLeastOf('mine', 'b'), 0)
  feed.progressed(progress('mine')) // no seconds: either none are left, or the engine is an older version
  assert.equal(feed.secondsAtLeastOf('mine', 'a'), 0)
})

test('progress is kept for a bounded number of requests', () => {
  const feed = new RequestFeed(3)
  for (let i = 0; i < 10_001; i += 1) feed.progressed(progress(`request-${i}`))
  assert.equal(feed.progressOf('request-0', 'a'), undefined)
  assert.equal(feed.progressOf('request-1', 'a'), 0.5)
})

test('an account may have a limited number of watches open, and a closed one frees one', () => {
  const feed = new RequestFeed(2)
  const [first] = [feed.watch('a', 'mine'), feed.watch('b', 'mine')]
  assert.throws(() => feed.watch('a', 'mine'), { code: 'RATE_LIMITED' })
  feed.watch('a', 'yours')
  first.close()
  first.close()
  feed.watch('a', 'mine')
  assert.throws(() => feed.watch('c', 'mine'), { code: 'RATE_LIMITED' })
  assert.equal(feed.watches, 3)
  feed.close()
})
