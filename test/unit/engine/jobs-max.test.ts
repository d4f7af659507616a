import assert from 'node:assert/strict'
import test from 'node:test'
import { parseJobsMax } from '../../../engine/jobs-max.ts'

const GIBIBYTE = 2 ** 30

test('there are as many jobs as fit in half of the memory, within limits, or as many as configured', () => {
  const byMemory = [0.5, 2, 4, 64].map((gibibytes) => parseJobsMax('auto', gibibytes * GIBIBYTE))
  assert.deepEqual(byMemory, [4, 5, 10, 32])
  assert.equal(parseJobsMax('100', GIBIBYTE), 100)
  for (const text of ['0', '1001', '1.5', '', 'all']) {
    assert.throws(() => parseJobsMax(text), /must be auto or a whole number from 1 to 1000/)
  }
})
