import assert from 'node:assert/strict'
import test from 'node:test'
import { predictSpans } from '../../../../models/mini/predict-spans.ts'

const SECONDS = 10
const TOKEN_SECONDS = 0.02

/**
 * Predicts the spans of ten seconds in which `at` gives the probability of the target at each time.
 */
function spansOf(at: (second: number) => number, startSecond = 0) {
  const tokens = SECONDS / TOKEN_SECONDS
  const activity = Float32Array.from({ length: tokens }, (_, i) =>
    at(startSecond + (i + 0.5) * TOKEN_SECONDS),
  )
  return predictSpans(activity, SECONDS, { tokens, tokenSeconds: TOKEN_SECONDS, startSecond })
}

const within = (from: number, to: number, inside: number, outside: number) => (second: number) =>
  second >= from && second < to ? inside : outside

function assertSpan(span: { start: number; end: number } | undefined, start: number, end: number) {
  assert.equal(span?.start.toFixed(2), start.toFixed(2))
  assert.equal(span?.end.toFixed(2), end.toFixed(2))
}

test('a span is where the target probably sounds, with a margin', () => {
  const [span, ...more] = spansOf(within(3, 5, 0.9, 0.05))
  assert.deepEqual(more, [])
  assertSpan(span, 2.9, 5.1)
  assert.equal(span?.include, true)
})

test('tokens that start before the chunk count from there', () => {
  assertSpan(spansOf(within(3, 5, 0.9, 0.05), -0.01)[0], 2.89, 5.09)
})

test('without a sure moment there is no span; with one, the span includes weaker surroundings', () => {
  assert.deepEqual(spansOf(within(3, 5, 0.5, 0.05)), [])
  const [span] = spansOf((second) => (second >= 3 && second < 5 ? (second < 4 ? 0.9 : 0.4) : 0.05))
  assertSpan(span, 2.9, 5.1)
})

test('short pauses are bridged, long ones are not', () => {
  assert.equal(spansOf((second) => (second % 1 < 0.7 ? 0.9 : 0.01)).length, 1)
  assert.equal(spansOf((second) => (second % 5 < 2 ? 0.9 : 0.01)).length, 2)
})

test('a moment is not a span, and spans stay within the chunk', () => {
  assert.deepEqual(spansOf(within(3, 3.05, 0.9, 0.05)), [])
  assertSpan(spansOf(() => 0.9)[0], 0, SECONDS)
})
