/** The ladder of the GPU report names the first step that is wrong or slow. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { farthestFrom, LADDER_STEPS, verdicts } from '../../../bench/gpu-report/ladder.ts'

/** Milliseconds of each step, and how far it is from the first. */
const rows = (precision: string, steps: readonly (readonly [ms: number, farthest: number])[]) =>
  steps.map(([ms, farthest], i) => ({
    ...{ model: 'mini', precision, batch: 8, step: LADDER_STEPS[i]!, ms },
    'farthest from plain': farthest,
  }))

test('the first step that is wrong, slow or missing is named', () => {
  const cases = [
    [
      'bfloat16',
      [
        [9, 0],
        [5, 0],
        [3, 0],
        [3.1, 0.04],
      ],
      /every step is right/,
    ],
    [
      'bfloat16',
      [
        [9, 0],
        [5, 0],
        [6, 0.2],
        [2, 0],
      ],
      /"XLA" is wrong, by 0\.20/,
    ],
    [
      'bfloat16',
      [
        [9, 0],
        [5, 0],
        [6, 0],
        [2, 0.2],
      ],
      /"XLA" takes 6\.0 ms, "graph" 5\.0/,
    ],
    [
      'float32',
      [
        [9, 0],
        [15, 0.01],
        [6, 0],
        [2, 0],
      ],
      /"graph" is wrong/,
    ],
    [
      'float32',
      [
        [9, 0],
        [15, 0],
        [6, 0],
        [9, 0],
      ],
      /every step is right/,
    ],
    [
      'bfloat16',
      [
        [9, 0],
        [5, 0],
      ],
      /"XLA" was not measured/,
    ],
  ] as const
  for (const [precision, steps, expected] of cases) {
    const [line, ...more] = verdicts(rows(precision, steps))
    assert.match(line!, expected)
    assert.match(line!, new RegExp(`^mini, ${precision}, batch 8: `))
    assert.deepEqual(more, [])
  }
})

test('how far numbers are is a share of the largest; what is no number is all wrong', () => {
  assert.equal(farthestFrom(Float32Array.of(1, -4), Float32Array.of(1, -2)), 1)
  assert.equal(farthestFrom(Float32Array.of(2, 3), Float32Array.of(2, 4)), 0.25)
  assert.equal(farthestFrom(Float32Array.of(0, 0), Float32Array.of(0, 0)), 0)
  assert.equal(farthestFrom(Float32Array.of(NaN), Float32Array.of(1)), 1)
})
