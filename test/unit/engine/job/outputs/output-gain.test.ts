import assert from 'node:assert/strict'
import test from 'node:test'
import { fc } from '../../../../support/basics/property.ts'
import { factorOf, gainDbFor, peakOf } from '../../../../../engine/job/outputs/output-gain.ts'

test('samples up to full scale need no gain', () => {
  for (const peak of [0, 0.5, 1]) assert.equal(gainDbFor(peak), 0)
})

test('any peak is lowered to full scale, or less than 0.01 dB below it', () => {
  fc.assert(
    fc.property(fc.double({ min: 1, minExcluded: true, max: 1e6, noNaN: true }), (peak) => {
      const gainDb = gainDbFor(peak)
      const reached = peak * factorOf(gainDb)
      const rounding = 1e-12
      assert.ok(reached <= 1 + rounding && reached > factorOf(-0.01) - rounding, `${reached}`)
      assert.equal(gainDb, Number(gainDb.toFixed(2)))
    }),
  )
})

test('the peak is the greatest sample of either sign and any channel', () => {
  assert.equal(peakOf([Float32Array.of(0, -1.5), Float32Array.of(NaN, 0.5, -Infinity)]), 1.5)
  assert.equal(peakOf([]), 0)
})
