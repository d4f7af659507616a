import assert from 'node:assert/strict'
import test from 'node:test'
import { predictSpans } from '../../../models/mini/predict-spans.ts'
import { noise } from '../../support/make-audio.ts'

const RATE = 8_000

/** Ten seconds of noise, and of it as `target` the share that `gain` tells of each second. */
function scene(gain: (second: number) => number) {
  const mixture = noise(10, RATE)
  return { mixture: [mixture], target: [mixture.map((x, i) => x * gain(i / RATE))] }
}

const within = (from: number, to: number, inside: number, outside: number) => (second: number) =>
  (second >= from && second < to ? inside : outside)

const spansOf = (gain: (second: number) => number) => {
  const { target, mixture } = scene(gain)
  return predictSpans(target, mixture, RATE)
}

test('a span is where the target has its share, with a margin', () => {
  const [span, ...more] = spansOf(within(3, 5, 0.9, 0.05))
  assert.deepEqual(more, [])
  assert.ok(Math.abs(span!.start - 2.9) < 0.06, `starts at ${span!.start}`)
  assert.ok(Math.abs(span!.end - 5.1) < 0.06, `ends at ${span!.end}`)
  assert.equal(span!.include, true)
})

test('a share that is never sure makes no span; one that is carries its weaker surroundings', () => {
  assert.deepEqual(spansOf(within(3, 5, 0.35, 0.05)), [])
  const [span] = spansOf((second) => (second >= 3 && second < 5 ? (second < 4 ? 0.9 : 0.3) : 0.05))
  assert.ok(span!.end > 4.9, `ends at ${span!.end}`)
})

test('short pauses are bridged, long ones are not', () => {
  assert.equal(spansOf((second) => (second % 1 < 0.7 ? 0.9 : 0.01)).length, 1)
  assert.equal(spansOf((second) => (second % 5 < 2 ? 0.9 : 0.01)).length, 2)
})

test('a click is no span, silence has none, and what sounds throughout reaches both ends', () => {
  assert.deepEqual(spansOf(within(3, 3.005, 0.9, 0.01)), [])
  assert.deepEqual(predictSpans([new Float32Array(RATE)], [new Float32Array(RATE)], RATE), [])
  assert.deepEqual(spansOf(() => 0.9), [{ start: 0, end: 10, include: true }])
})
