import assert from 'node:assert/strict'
import test from 'node:test'
import {
  secondsLeft,
  speedOf,
  type OpenWork,
} from '../../../../../gateway/requests/present/time-left.ts'
import { fc } from '../../../../support/basics/property.ts'

const open = (
  requestId: string,
  mediaSeconds: number | null,
  done = 0,
  { weight = 1, secondsAtLeast = 0 } = {},
): OpenWork => ({ requestId, mediaSeconds, weight, done, secondsAtLeast })
const SPEED = { perSecond: 10, perEngineSecond: 10, meanSeconds: 50 }
const left = (...args: Parameters<typeof secondsLeft>) =>
  Object.fromEntries([...secondsLeft(...args)].map(([id, s]) => [id, Math.round(s * 10) / 10]))

test('a lone request takes the time of its remaining work', () => {
  assert.deepEqual(left([open('a', 100)], [], SPEED), { a: 10 })
  assert.deepEqual(left([open('a', 100, 0.75)], [], SPEED), { a: 2.5 })
  assert.deepEqual(left([], [open('a', 100)], SPEED), { a: 10 })
})

test('running requests share the speed equally, so short ones end first', () => {
  // Both run at 5 per second until b ends after 4 s; the other 80 of a then run at 10 per second.
  assert.deepEqual(left([open('a', 100), open('b', 20)], [], SPEED), { b: 4, a: 12 })
})

test('a waiting request starts when a place is free', () => {
  assert.deepEqual(left([open('a', 100)], [open('b', 20), open('c', 10)], SPEED), {
    a: 10,
    b: 12,
    c: 13,
  })
  // c takes the place of b after 4 s, when a has 80 left and c 40: 8 s at 5 each, then 40 of a at
  // 10.
  const both = left([open('a', 100), open('b', 20)], [open('c', 40)], SPEED)
  assert.deepEqual(both, { b: 4, c: 12, a: 16 })
})

test('an unknown length counts as the mean', () => {
  assert.deepEqual(left([open('a', null)], [open('b', null)], SPEED), { a: 5, b: 10 })
  assert.deepEqual(
    left([open('a', null, 0, { weight: 3 })], [], SPEED),
    { a: 15 },
    'for all that it asks for',
  )
})

test('the minimum that an engine states takes precedence over the work', () => {
  const lasting = { secondsAtLeast: 15 }
  assert.deepEqual(left([open('a', 100, 0.99, lasting)], [], SPEED), { a: 15 })
  assert.deepEqual(left([open('a', 1000, 0, lasting)], [], SPEED), { a: 100 })
  // Its place is free once it ends; until then it takes nothing from the others.
  const [a, b] = [open('a', 20, 0, lasting), open('b', 100)]
  assert.deepEqual(left([a], [open('b', 100)], SPEED), { a: 15, b: 25 })
  assert.deepEqual(left([a, b], [open('c', 50)], SPEED), { b: 12, a: 15, c: 17 })
})

test('whatever engines say, no request ends before its work is done and its engine allows', () => {
  const works = fc.array(
    fc.record({
      work: fc.double({ min: 0, max: 1e5, noNaN: true }),
      secondsAtLeast: fc.double({ min: 0, max: 1e3, noNaN: true }),
    }),
    { maxLength: 20 },
  )
  fc.assert(
    fc.property(works, works, (a, b) => {
      const running = a.map(({ work, secondsAtLeast }, i) =>
        open(`a${i}`, work, 0, { secondsAtLeast }),
      )
      const waiting = b.map(({ work }, i) => open(`b${i}`, work))
      const result = secondsLeft(running, waiting, SPEED)
      assert.equal(result.size, a.length + b.length)
      const total = [...a, ...b].reduce((sum, { work }) => sum + work / SPEED.perSecond, 0)
      const longest = Math.max(0, ...a.map(({ secondsAtLeast }) => secondsAtLeast))
      // 40 requests that each end in two steps, with at most 20 running at once.
      const rounding = 2 * 80 * 20 * Number.EPSILON * (total + longest) + 1e-300
      for (const [i, { work, secondsAtLeast }] of a.entries()) {
        const least = Math.max(secondsAtLeast, work / SPEED.perSecond)
        assert.ok(result.get(`a${i}`)! >= least - rounding)
      }
      for (const seconds of result.values()) assert.ok(seconds <= total + longest + rounding)
    }),
  )
})

test('whatever runs and waits, all work is done in the end, in turn, and no time is negative', () => {
  const works = fc.array(
    fc.record({
      work: fc.double({ min: 0, max: 1e5, noNaN: true }),
      done: fc.double({ min: 0, max: 1, noNaN: true }),
    }),
    { maxLength: 40 },
  )
  fc.assert(
    fc.property(
      works,
      works,
      fc.double({ min: 0.01, max: 1e3, noNaN: true }),
      (a, b, perSecond) => {
        const running = a.map(({ work, done }, i) => open(`a${i}`, work, done))
        const waiting = b.map(({ work, done }, i) => open(`b${i}`, work, done))
        const result = secondsLeft(running, waiting, { ...SPEED, perSecond, meanSeconds: 1 })
        const times = [...result.values()]
        const total = [...a, ...b].reduce((sum, { work, done }) => sum + work * (1 - done), 0)
        assert.equal(result.size, a.length + b.length)
        assert.ok(times.every((seconds) => seconds >= 0))
        const last = Math.max(0, ...times)
        // 80 sums, each times at most 40 places; numbers below 1e-300 lose precision.
        const rounding = 2 * 80 * 40 * Number.EPSILON * last + 1e-300
        assert.ok(Math.abs(last - total / perSecond) <= rounding)
        for (const { requestId, mediaSeconds, done } of [...running, ...waiting]) {
          const alone = ((mediaSeconds ?? 0) * (1 - done)) / perSecond
          assert.ok(result.get(requestId)! >= alone - rounding)
        }
      },
    ),
  )
})

const run = (
  mediaSeconds: number,
  startedAt: number,
  finishedAt: number,
  { weight = 1, engineId = 'engine-1' } = {},
) => ({
  engineId,
  mediaSeconds,
  weight,
  startedAt: startedAt * 1_000,
  finishedAt: finishedAt * 1_000,
})

test('the speed is the work divided by the time in which anything ran', () => {
  const speed = (perSecond: number, meanSeconds: number, perEngineSecond = perSecond) => ({
    perSecond,
    perEngineSecond,
    meanSeconds,
  })
  assert.equal(speedOf([]), undefined)
  assert.deepEqual(speedOf([run(60, 0, 6)]), speed(10, 60))
  assert.deepEqual(speedOf([run(60, 0, 6, { weight: 2 })]), speed(20, 60))
  // idle from 6 to 100
  const apart = [run(60, 0, 6), run(30, 100, 103), run(50, 103, 108)]
  assert.deepEqual(speedOf(apart), speed(10, 40))
  // two at once, each at half speed
  const together = [run(50, 0, 10), run(50, 0, 10), run(50, 10, 20), run(50, 10, 20)]
  assert.deepEqual(speedOf(together), speed(15, 50))
  // the same on two engines, each of which has all its time for one
  const [a, b] = [{ engineId: 'engine-1' }, { engineId: 'engine-2' }]
  const onTwoEngines = [run(9, 0, 10, a), run(50, 10, 20, a), run(50, 10, 20, b)]
  assert.deepEqual(speedOf(onTwoEngines), speed(10, 50, 5))
})

test('media of no length, or clocks that differ, give no speed', () => {
  assert.equal(speedOf([run(0, 0, 1)]), undefined)
  assert.equal(speedOf([run(5, 3, 2)]), undefined)
})
