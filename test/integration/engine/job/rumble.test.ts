/** A recording with a constant offset and rumble, from file to files. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MasterSeparator, sumError, SUM_ERROR_MAX } from '../../../support/engine/loud-masters.ts'
import { noise } from '../../../support/media/signals.ts'
import { wavBytes } from '../../../support/media/wav.ts'

const RATE = 44_100
const OFFSET = 0.1

test('an offset goes to the residual, which still adds up to the mixture with the target', async (t) => {
  const separator = await MasterSeparator.start()
  t.after(() => separator.stop())
  const hits = noise(2, RATE, 1).map((hit) => 0.3 * hit)
  const planes = { hits, withRumble: hits.map((hit, i) => hit + OFFSET + rumbleAt(i)) }
  const separate = async (plane: Float32Array) => {
    const separated = await separator.separate(wavBytes([plane], RATE, 'pcm24'), 'wav')
    assert.equal(separated.gainDb, 0)
    assert.ok(sumError(separated) <= SUM_ERROR_MAX, `the sum is off by ${sumError(separated)}`)
    return separated.outputs.map(([left]) => mean(left!)) as [target: number, residual: number]
  }
  const without = await separate(planes.hits)
  const [target, residual] = await separate(planes.withRumble)
  const added = mean(planes.withRumble) - mean(planes.hits)
  assert.ok(Math.abs(target - without[0]) < OFFSET / 10_000, `a mean of ${target} in the target`)
  assert.ok(Math.abs(residual - without[1] - added) < OFFSET / 10_000, `of ${residual} in the rest`)
})

const rumbleAt = (sample: number): number => 0.1 * Math.sin((2 * Math.PI * 10 * sample) / RATE)

const mean = (plane: Float32Array): number =>
  plane.reduce((sum, sample) => sum + sample, 0) / plane.length
