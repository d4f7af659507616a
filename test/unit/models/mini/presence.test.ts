/** How much of the target is let through. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { presenceGain } from '../../../../models/mini/presence.ts'

test('26 dB less of what is improbable, all of what may be there, no step between, never silence', () => {
  const decibels = [0, 0.1, 0.2, 1].map((match) => 20 * Math.log10(presenceGain(match)))
  assert.deepEqual(decibels.map(Math.round), [-26, -26, 0, 0])
  assert.equal(presenceGain(0.2), 1)
  const match = fc.double({ min: 0, max: 1, noNaN: true })
  fc.assert(
    fc.property(match, match, (a, b) => {
      const rise = presenceGain(Math.max(a, b)) - presenceGain(Math.min(a, b))
      assert.ok(rise >= 0 && rise <= 10.001 * Math.abs(a - b))
    }),
  )
})
