import assert from 'node:assert/strict'
import test from 'node:test'
import { segmentMs, type Pace } from '../../../../../engine/job/checkpoint/checkpoint-pace.ts'

const pace = (changes: Partial<Pace>): Pace => ({
  ...{ elapsedMs: 60_000, shareBefore: 0, share: 0.1, pauseMs: 30_000, segmentsLeft: 24 },
  ...changes,
})

test('nothing is stored for short work, at the beginning, near the end, or without an address', () => {
  assert.equal(segmentMs(pace({ elapsedMs: 29_999 })), null)
  assert.equal(segmentMs(pace({ share: 0.55 })), null) // 49 s are left
  assert.equal(segmentMs(pace({ segmentsLeft: 0 })), null)
})

test('segments are spread over the time left, judged by this attempt alone', () => {
  assert.equal(segmentMs(pace({ share: 1 / 121 })), 300_000) // two hours are left
  assert.equal(segmentMs(pace({ share: 0.5 })), 30_000)
  assert.equal(segmentMs(pace({ shareBefore: 0.5, share: 0.75, segmentsLeft: 1 })), 60_000)
  assert.equal(segmentMs(pace({ shareBefore: 0.5, share: 0.5 })), 30_000) // this attempt has no progress yet
})
