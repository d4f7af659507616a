import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  VideoCounter,
  type VideoProgress,
} from '../../../../../engine/media/write/video-progress.ts'

/** Counts `read` of `packets` packets, which take 250 ms each, and returns the reports. */
function count(packets: number, read = packets): VideoProgress[] {
  const reports: VideoProgress[] = []
  let now = 5_000
  const counter = new VideoCounter(
    packets,
    (report) => reports.push(report),
    () => now,
  )
  for (let i = 0; i < read; i++) {
    now += 250
    counter.count()
  }
  return reports
}

test('the time left is estimated from the speed so far', () => {
  assert.deepEqual(count(4), [
    { done: 0 },
    { done: 0.2, secondsLeft: 0.75 },
    { done: 0.4, secondsLeft: 0.5 },
    { done: 0.6, secondsLeft: 0.25 },
    { done: 0.8, secondsLeft: 0 },
  ])
})

test('a long video has at most as many reports as a short one', () => {
  const reports = count(180_000)
  assert.equal(reports.length, 201)
  assert.deepEqual(reports[100], { done: 90_000 / 180_001, secondsLeft: 22_500 })
})

test('uncounted packets never make progress exceed 1', () => {
  assert.deepEqual(count(1, 3), [{ done: 0 }, { done: 0.5, secondsLeft: 0 }])
})
