import assert from 'node:assert/strict'
import { test } from 'node:test'
import { WeightedJoiner } from '../../../../engine/job/weighted-joiner.ts'
import { triangle } from '../../../../models/lanes/chunk-weights.ts'
import { assertClose } from '../../../support/basics/assert-close.ts'
import { fc } from '../../../support/basics/property.ts'

interface Window {
  start: number
  rows: Float32Array[]
  weights: Float32Array
}

function joinWeighted(windows: Iterable<Window>): number[][] {
  const joiner = new WeightedJoiner()
  const parts: Float32Array[][] = []
  for (const { start, rows, weights } of windows) parts.push(joiner.push(start, rows, weights))
  parts.push(joiner.finish())
  return parts.at(-1)!.map((_, r) => parts.flatMap((part) => [...(part[r] ?? [])]))
}

/** Returns sample i of row r of a signal that never repeats. */
const sampleAt = (row: number, i: number): number => Math.sin(1 + i * (row + 1.7))

interface Sizes {
  samples: number
  segment: number
  strideShare: number
  rows: number
}

const cases = fc.record({
  samples: fc.integer({ min: 1, max: 300 }),
  segment: fc.integer({ min: 1, max: 100 }),
  strideShare: fc.double({ min: 0.05, max: 1, noNaN: true }),
  rows: fc.integer({ min: 1, max: 3 }),
})

/** Cuts a signal into overlapping windows with triangular weights; the last windows are shorter. */
function* cut(
  { samples, segment, strideShare, rows }: Sizes,
  signal: (row: number, i: number) => number,
): Generator<Window> {
  const stride = Math.max(1, Math.floor(segment * strideShare))
  for (let start = 0; start < samples; start += stride) {
    const weights = triangle(segment).subarray(0, Math.min(segment, samples - start))
    const row = (r: number) => Float32Array.from(weights, (_, i) => signal(r, start + i))
    yield { start, rows: Array.from({ length: rows }, (_, r) => row(r)), weights }
  }
}

test('a signal that is cut and joined comes back, even a constant one', () => {
  fc.assert(
    fc.property(cases, (sizes) => {
      for (const signal of [sampleAt, () => 0.7]) {
        const joined = joinWeighted(cut(sizes, signal))
        assert.equal(joined.length, sizes.rows)
        for (const [r, row] of joined.entries()) {
          const expected = Array.from({ length: sizes.samples }, (_, i) => signal(r, i))
          assertClose(row, expected, { absolute: 1e-5 }) // at most 100 sums, each of them rounded
        }
      }
    }),
  )
})

test('a sample is the weighted mean over its windows', () => {
  const ones = { start: 0, rows: [Float32Array.of(1, 1, 1)], weights: Float32Array.of(1, 1, 3) }
  const fives = { start: 2, rows: [Float32Array.of(5, 5)], weights: Float32Array.of(1, 0) }
  assert.deepEqual(joinWeighted([ones, fives]), [[1, 1, 2, 0]]) // the last sample has no weight
})
