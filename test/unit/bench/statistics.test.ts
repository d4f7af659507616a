import assert from 'node:assert/strict'
import test from 'node:test'
import { seededRandom } from '../../support/basics/random.ts'
import { meanInterval, pairedRatio, unpairedRatio } from '../../../bench/statistics/bootstrap.ts'
import { fitLine, fitTimes, risesSignificantly } from '../../../bench/statistics/fit.ts'
import { isSaturated, rateWithin, type RateResult } from '../../../bench/statistics/saturation.ts'
import { fc } from '../../support/basics/property.ts'

const number = fc.double({ min: -1_000, max: 1_000, noNaN: true })

test('a line through points of a line is that line', () => {
  fc.assert(
    fc.property(number, number, (intercept, slope) => {
      const points = [1, 2, 5, 9].map((x) => ({ x, y: intercept + slope * x }))
      const line = fitLine(points)
      // Sums of up to 6e5, rounded a dozen times, over a determinant of 155; four times the mean x.
      assert.ok(Math.abs(line.slope - slope) < 1e-10)
      assert.ok(Math.abs(line.intercept - intercept) < 1e-9)
    }),
  )
})

test('step times of a batch give their fixed and their growing part back', () => {
  const random = seededRandom(3)
  const points = [32, 125, 313, 625, 1_250, 2_500, 5_000].flatMap((x) =>
    Array.from({ length: 5 }, () => ({ x, y: (0.02 + 5e-5 * x) * (0.8 + 0.4 * random()) })),
  )
  const { intercept, slope } = fitTimes(points)
  assert.ok(Math.abs(intercept / 0.02 - 1) < 0.2, `${intercept}`)
  assert.ok(Math.abs(slope / 5e-5 - 1) < 0.1, `${slope}`)
})

test('noise rises by chance in about one of twenty', () => {
  const random = seededRandom(11)
  let rising = 0
  for (let trial = 0; trial < 400; trial += 1) {
    const points = Array.from({ length: 10 }, (_, x) => ({ x, y: random() }))
    if (risesSignificantly(points)) rising += 1
  }
  assert.ok(rising > 5 && rising < 40, `${rising} of 400`)
})

test('an interval of 95 % holds the true mean about as often', () => {
  const random = seededRandom(5)
  let held = 0
  for (let trial = 0; trial < 200; trial += 1) {
    const { low, high } = meanInterval(Array.from({ length: 20 }, random))
    if (low <= 0.5 && 0.5 <= high) held += 1
  }
  assert.ok(held > 176 && held < 199, `${held} of 200`)
})

test('a ratio in turns is not hidden by what slows both', () => {
  const slow = [1, 0.5, 0.7, 1, 0.6, 0.9]
  const baseline = slow.map((x) => 40 * x)
  const values = slow.map((x, i) => 44 * x * (1 + 0.01 * (i % 2)))
  const paired = pairedRatio(values, baseline)
  assert.ok(paired.low > 1.09 && paired.high < 1.12, JSON.stringify(paired))
  assert.ok(unpairedRatio(values, baseline).low < 1, 'apart, it is')
})

/** A queue with one server, simulated: latencies of a load of `share` of what it can bear. */
function queue(share: number, seed: number) {
  const random = seededRandom(seed)
  let [now, freeAt] = [0, 0]
  return Array.from({ length: 400 }, () => {
    now -= (1_000 / share) * Math.log(1 - random()) * 0.1
    freeAt = Math.max(now, freeAt) + 100 * (0.5 + random())
    return { dueMs: now, latencyMs: freeAt - now, audioSeconds: 4, code: 'COMPLETED' }
  })
}

test('a load that a queue cannot bear is told from one that it can', () => {
  let [wrong, found] = [0, 0]
  for (let seed = 1; seed <= 20; seed += 1) {
    for (const share of [0.4, 0.7]) {
      const load = queue(share, seed)
      if (isSaturated(load, load.at(-1)!.dueMs)) wrong += 1
    }
    const tooMuch = queue(1.4, seed)
    if (isSaturated(tooMuch, tooMuch.at(-1)!.dueMs)) found += 1
  }
  assert.ok(found >= 19, `${found} of 20 found`)
  assert.ok(wrong <= 4, `${wrong} of 40 wrongly`)
})

test('the rate within a limit is the last before the first that fails', () => {
  const rate = (perSecond: number, latencyMs: number, saturated = false): RateResult => ({
    perSecond,
    latencyMs,
    isSaturated: saturated,
    failed: 0,
  })
  const results = [rate(3, 9_000), rate(1, 1_000), rate(2, 2_000), rate(4, 9_500, true), rate(5, 9)]
  assert.equal(rateWithin(results, 9_200), 3)
  assert.equal(rateWithin(results, 5_000), 2)
  assert.equal(rateWithin(results, 500), null)
  assert.equal(rateWithin([{ ...rate(1, 1), failed: 1 }], 500), null)
})
