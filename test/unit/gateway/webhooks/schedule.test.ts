import assert from 'node:assert/strict'
import test from 'node:test'
import {
  DELAYS_SECONDS,
  retryDelayMs,
  ATTEMPTS_SECONDS_MAX,
} from '../../../../gateway/webhooks/schedule.ts'
import { fc } from '../../../support/basics/property.ts'

const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })
const attempts = fc.integer({ min: 1, max: 9 })
const now = Date.parse('2026-01-02T03:04:05Z')
const retry = (attempts: number, retryAfter?: string) =>
  retryDelayMs({ attempts, retryAfter, firstAttemptAt: now, now, random: 0.5 })

test('there are ten tries, spread over 76 hours', () => {
  const [minute, hour] = [60, 3_600]
  const hours = [2, 5, 10, 14, 20, 24].map((hours) => hours * hour)
  const decided = [0, 5, 5 * minute, 30 * minute, ...hours]
  assert.deepEqual(DELAYS_SECONDS, decided)
  const seconds = DELAYS_SECONDS.reduce<number>((sum, delay) => sum + delay, 0)
  assert.equal(Math.round(seconds / 3_600), 76)
  assert.deepEqual([retry(10), retry(10, '5'), retry(1)], [undefined, undefined, 5_000])
})

test('property: every rest is within a fifth of its plan', () => {
  fc.assert(
    fc.property(attempts, random, (attempts, random) => {
      const plan = 1_000 * (DELAYS_SECONDS[attempts] ?? NaN)
      const rest = retryDelayMs({ attempts, firstAttemptAt: now, now, random }) ?? NaN
      const [least, most] = [0.8, 1.2].map((part) => Math.round(part * plan)) // whole milliseconds
      assert.ok(rest >= least! && rest <= most!, `${rest} of ${plan}`)
    }),
  )
})

test('property: no try comes before a Retry-After of up to a day, nor much after it', () => {
  fc.assert(
    fc.property(attempts, random, fc.nat(200_000), (attempts, random, seconds) => {
      const plain = retryDelayMs({ attempts, firstAttemptAt: now, now, random }) ?? NaN
      const date = new Date(now + 1_000 * seconds).toUTCString()
      for (const retryAfter of [String(seconds), date]) {
        const rest = retryDelayMs({ attempts, retryAfter, firstAttemptAt: now, now, random })
        assert.equal(rest, Math.max(plain, 1_000 * Math.min(seconds, 86_400)))
      }
    }),
  )
})

test('a Retry-After that makes no sense changes nothing', () => {
  const past = new Date(now - 1e9).toUTCString()
  for (const retryAfter of ['', 'soon', '-5', '1e9', '0x10', '1.5', past, 'Abc GMT', '999 GMT']) {
    assert.equal(retry(1, retryAfter), 5_000, retryAfter)
  }
  assert.equal(retry(1, '9'.repeat(400)), 86_400_000)
})

const header = fc.oneof(
  fc.constant(undefined),
  fc.nat(200_000).map(String),
  fc.constant('9'.repeat(30)),
)

test('property: all tries lie within 92 hours, whatever receivers ask for and however late a try is', () => {
  const answer = fc.record({ header, random, lateMs: fc.nat(20_000) })
  fc.assert(
    fc.property(fc.array(answer, { minLength: 9, maxLength: 9 }), (answers) => {
      let at = now
      for (const [index, { header: retryAfter, random, lateMs }] of answers.entries()) {
        const given = {
          attempts: index + 1,
          firstAttemptAt: now,
          now: at + lateMs,
          random,
          retryAfter,
        }
        const rest = retryDelayMs(given)
        if (rest === undefined) return
        at += lateMs + rest
        assert.ok(rest > 0 && at - now <= 1_000 * ATTEMPTS_SECONDS_MAX, `${at - now} ms`)
      }
    }),
  )
  assert.equal(ATTEMPTS_SECONDS_MAX, 92 * 3_600)
})
