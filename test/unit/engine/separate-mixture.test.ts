import assert from 'node:assert/strict'
import test from 'node:test'
import { chunkSpans } from '../../../engine/separate-mixture.ts'

const span = (start: number, end: number, include = true) => ({ start, end, include })

test('spans are told from the start of the chunk and clipped to it', () => {
  assert.deepEqual(chunkSpans([span(5, 12), span(30, 40, false)], 10, 10), [span(0, 2)])
  assert.deepEqual(chunkSpans([span(12, 14, false)], 10, 10), [span(2, 4, false)])
})

test('where the target sounds only elsewhere, an empty span says so', () => {
  assert.deepEqual(chunkSpans([span(0, 3)], 10, 10), [span(0, 0)])
})

test('no spans: nothing is known', () => {
  assert.deepEqual(chunkSpans([], 10, 10), [])
})
