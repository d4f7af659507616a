/** The ladder of the GPU report names the first step that is wrong or slow. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { farthestFrom, LADDER_STEPS, verdicts } from '../../../bench/gpu-report/ladder.ts'

/** @param steps the milliseconds of each step and, after a slash, how far it is from the first */
const rows = (precision: string, steps: string) =>
  steps.split(' ').map((step, i) => {
    const [ms, farthest = 0] = step.split('/').map(Number)
    return {
      ...{ model: 'mini', precision, batch: 8, step: LADDER_STEPS[i]!, ms: ms! },
      'farthest from plain': farthest,
    }
  })

test('the first step that is wrong, slow or missing is named', () => {
  for (const [precision, steps, expected] of [
    ['bfloat16', '9 5 3 3.1/0.04', /every step is right/],
    ['bfloat16', '9 5 6/0.2 2', /"XLA" is wrong, by 0\.20/],
    ['bfloat16', '9 5 6 2/0.2', /"XLA" takes 6\.0 ms, "graph" 5\.0/],
    ['float32', '9 15/0.01 6 2', /"graph" is wrong/],
    ['float32', '9 15 6 9', /every step is right/],
    ['bfloat16', '9 5', /"XLA" was not measured/],
  ] as const) {
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
