/** A recording with a constant offset and rumble, from file to files. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MasterSeparator, sumError, SUM_ERROR_MAX } from '../../../harness/loud-masters.ts'
import { noise } from '../../../harness/signals.ts'
import { wavBytes } from '../../../harness/wav.ts'

const RATE = 44_100
const OFFSET = 0.1

test('an offset goes to the residual, which still adds up with the target', async (t) => {
  const separator = await MasterSeparator.start()
  t.after(() => separator.stop())
  const plane = noise(2, RATE, 1).map((hit, i) => {
    const rumble = 0.1 * Math.sin((2 * Math.PI * 10 * i) / RATE)
    return 0.3 * hit + OFFSET + rumble
  })
  const separated = await separator.separate(wavBytes([plane], RATE, 'pcm24'), 'wav')
  assert.equal(separated.gainDb, 0)
  assert.ok(sumError(separated) <= SUM_ERROR_MAX, `the sum is off by ${sumError(separated)}`)
  const means = [separated.mixture, ...separated.outputs].map(([left]) => mean(left!))
  const [mixture, target, residual] = means as [number, number, number]
  assert.ok(Math.abs(target) < OFFSET / 1_000, `a mean of ${target} in the target`)
  assert.ok(Math.abs(residual - mixture) < OFFSET / 1_000, `of ${residual} in the residual`)
})

const mean = (plane: Float32Array): number =>
  plane.reduce((sum, sample) => sum + sample, 0) / plane.length
