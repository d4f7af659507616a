import assert from 'node:assert/strict'
import { test } from 'node:test'
import { JobProgress } from '../../../../../engine/job/reports/job-progress.ts'
import { decodeMessage, encodeMessage, Progress } from '../../../../../shared/messages.ts'
import { fc } from '../../../../support/basics/property.ts'

type Report = Pick<Progress, 'progress' | 'seconds_at_least'>

function follow(hasVideo: boolean) {
  const reports: Report[] = []
  return { progress: new JobProgress(hasVideo, (report) => reports.push(report)), reports }
}

test('without a picture the sound counts, and its end is not reported', () => {
  const { progress, reports } = follow(false)
  for (const part of [0.25, 0.5, 1]) progress.sound(part)
  progress.soundEnded()
  assert.deepEqual(reports, [{ progress: 0.25 }, { progress: 0.5 }, { progress: 0.99 }])
})

test('once a picture is known to be copied, only the sound counts', () => {
  const { progress, reports } = follow(true)
  progress.sound(0.25)
  assert.deepEqual(reports, [], 'the picture may have to be coded again')
  progress.video({ done: 1 })
  progress.sound(0.5)
  progress.soundEnded()
  assert.deepEqual(reports, [{ progress: 0.25 }, { progress: 0.5 }])
})

test('the slower of sound and picture counts, with the time left for the picture', () => {
  const { progress, reports } = follow(true)
  progress.video({ done: 0 })
  progress.video({ done: 0.1, secondsLeft: 18 })
  progress.sound(0.05)
  progress.sound(0.83) // 5 of 6 chunks
  progress.soundEnded()
  progress.video({ done: 0.9, secondsLeft: 2 })
  progress.video({ done: 1 })
  assert.deepEqual(reports, [
    { progress: 0 },
    { progress: 0, seconds_at_least: 18 },
    { progress: 0.05, seconds_at_least: 18 },
    { progress: 0.1, seconds_at_least: 18 },
    { progress: 0.1, seconds_at_least: 18 },
    { progress: 0.9, seconds_at_least: 2 },
    { progress: 0.99 },
  ])
})

test('whatever arrives in whatever order, progress neither falls nor reaches 1', () => {
  const part = fc.double({ min: 0, max: 1, noNaN: true })
  const calls = fc.array(
    fc.oneof(
      fc.record({ sound: part }),
      fc.record({
        picture: fc.record({
          done: part,
          secondsLeft: fc.double({ min: 0, max: 1e6, noNaN: true }),
        }),
      }),
      fc.constant('end' as const),
    ),
  )
  fc.assert(
    fc.property(fc.boolean(), calls, (hasVideo, calls) => {
      const { progress, reports } = follow(hasVideo)
      for (const call of calls) {
        if (call === 'end') progress.soundEnded()
        else if ('sound' in call) progress.sound(call.sound)
        else progress.video(call.picture)
      }
      for (const [i, report] of reports.entries()) {
        assert.ok(report.progress >= (reports[i - 1]?.progress ?? 0) && report.progress < 1)
        const message = {
          request_id: 'r',
          attempt_id: 'a',
          at: '2026-01-02T03:04:05.678Z',
          ...report,
        }
        assert.deepEqual(decodeMessage(Progress, encodeMessage(message)), message)
      }
    }),
  )
})

test('messages from engines of other versions are understood, with and without the field', () => {
  const message = {
    request_id: 'r',
    attempt_id: 'a',
    at: '2026-01-02T03:04:05.678Z',
    progress: 0.5,
  }
  assert.deepEqual(decodeMessage(Progress, encodeMessage(message)), message)
  const later = { ...message, seconds_at_least: 3, unknown: true }
  assert.equal(decodeMessage(Progress, encodeMessage(later)).seconds_at_least, 3)
})
