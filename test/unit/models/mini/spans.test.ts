import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Span } from '../../../../models/model.ts'
import { spanTokens } from '../../../../models/mini/span-tokens.ts'
import { spanGain } from '../../../../models/lanes/span-gain.ts'

const RATE = 1000
const EDGE = 0.01

const include = (start: number, end: number): Span => ({ start, end, include: true })
const exclude = (start: number, end: number): Span => ({ start, end, include: false })

/** Returns the gains at these milliseconds of one second. */
const at = (spans: Span[], ...milliseconds: number[]) => {
  const gain = spanGain(spans, RATE, RATE)
  return milliseconds.map((i) => gain[i])
}

test('an excluded span is silent, and everything else is unchanged', () => {
  assert.deepEqual(at([exclude(0.3, 0.5)], 0, 289, 300, 400, 499, 511, 999), [1, 1, 0, 0, 0, 1, 1])
})

test('once a span is included, nothing sounds outside the included ones', () => {
  const spans = [include(0.2, 0.4), include(0.6, 0.8)]
  assert.deepEqual(at(spans, 0, 199, 211, 388, 400, 599, 700, 801), [0, 0, 1, 1, 0, 0, 1, 0])
})

test('an excluded span wins over an included one', () => {
  assert.deepEqual(at([include(0.2, 0.8), exclude(0.4, 0.5)], 300, 450, 700), [1, 0, 1])
})

test('included spans that touch or overlap are merged', () => {
  const gain = spanGain([include(0.1, 0.4), include(0.4, 0.7), include(0.6, 0.9)], RATE, RATE)
  assert(gain.subarray(111, 889).every((value) => value === 1))
})

test('edges are raised cosines of 10 ms within the audible part', () => {
  const gain = spanGain([include(0.5, 1)], RATE, RATE)
  assert.equal(gain[500], 0)
  for (let i = 0; i < 10; i += 1) {
    const expected = 0.5 - 0.5 * Math.cos((Math.PI * i) / (EDGE * RATE))
    assert(Math.abs(gain[500 + i]! - expected) < 1e-6)
  }
  assert.equal(gain[510], 1)
})

test('a span that reaches the end of the chunk has no edge there', () => {
  assert(spanGain([include(0, 1)], RATE, RATE).every((value) => value === 1))
  assert.deepEqual(at([exclude(0, 0.1)], 0, 100, 111, 999), [0, 0, 1, 1])
})

test('an empty included span says that the target sounds in other chunks', () => {
  assert(spanGain([include(0, 0)], RATE, RATE).every((value) => value === 0))
})

test('neighboring chunks agree on a span that crosses both', () => {
  const spans = [include(0.4, 0.705), exclude(0.55, 0.6)]
  const whole = spanGain(spans, RATE, RATE)
  const shifted = spans.map((span) => ({ ...span, start: span.start - 0.5, end: span.end - 0.5 }))
  const second = spanGain(shifted, RATE / 2, RATE)
  for (const [i, gain] of second.entries()) assert(Math.abs(gain - whole[500 + i]!) < 1e-5)
})

/**
 * Shows the conditioning of four tokens of a quarter second each: `+` sounds, `-` does not sound,
 * `.` unknown.
 */
const marks = (...spans: Span[]) => {
  const numbers = spanTokens(spans, 1, { tokens: 4, tokenSeconds: 0.25, startSecond: 0 })
  return [0, 1, 2, 3].map((i) => '.+-'[numbers[2 * i]! + 2 * numbers[2 * i + 1]!]).join('')
}

test('tokens condition the network on where the target sounds and where it does not', () => {
  assert.equal(marks(), '....')
  assert.equal(marks(include(0.2, 0.6)), '-+--')
  assert.equal(marks(include(0.1, 0.7)), '+++-')
  assert.equal(marks(exclude(0.2, 0.7)), '.--.')
  assert.equal(marks(include(0, 0.5), exclude(0.25, 0.5)), '+---')
})

test('tokens that start before the chunk or end after it count by its ends', () => {
  const clock = { tokens: 2, tokenSeconds: 1, startSecond: -0.6 }
  assert.deepEqual([...spanTokens([include(0, 1)], 1, clock)], [1, 0, 1, 0])
  assert.deepEqual([...spanTokens([exclude(0, 0.5)], 1, clock)], [0, 1, 0, 0])
})
