import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { readAt } from '../../../../models/mini/token-clock.ts'
import { assertClose } from '../../../support/assert-close.ts'

const clock = (tokens: number, tokenSeconds: number, startSecond = 0) => ({
  tokens,
  tokenSeconds,
  startSecond,
})

test('tokens of one clock are read off as they are', () => {
  const values = Float32Array.of(1, 5, -2)
  assert.deepEqual(readAt(values, clock(3, 0.03), clock(3, 0.03)), values)
})

test('between the middles of two tokens lies what is between their values, beyond the ends the last', () => {
  const values = Float32Array.of(0, 4)
  // Middles at 1 and 3 s; read at 0.5, 1.5, 2.5 and 3.5 s.
  assert.deepEqual(readAt(values, clock(2, 2), clock(4, 1)), Float32Array.of(0, 1, 3, 4))
  assert.deepEqual(readAt(values, clock(2, 2, -1), clock(2, 1)), Float32Array.of(1, 3))
  assert.deepEqual(readAt(Float32Array.of(7), clock(1, 2), clock(3, 1)), Float32Array.of(7, 7, 7))
})

test('a straight line stays one', () => {
  const seconds = fc.double({ min: 0.01, max: 1, noNaN: true })
  fc.assert(
    fc.property(seconds, seconds, fc.integer({ min: 2, max: 60 }), (theirs, ours, tokens) => {
      const from = clock(tokens, theirs)
      const line = Float32Array.from({ length: tokens }, (_, i) => (i + 0.5) * theirs)
      const count = Math.max(1, Math.floor(((tokens - 1) * theirs) / ours))
      const to = clock(count, ours, theirs / 2 - ours / 2)
      const expected = Float32Array.from({ length: count }, (_, i) => theirs / 2 + i * ours)
      assertClose(readAt(line, from, to), expected, { absolute: 1e-4 })
    }),
  )
})
