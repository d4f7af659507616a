/** How much of the target is let through. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { presenceGain } from '../../../../models/mini/presence.ts'

test('nothing of what is improbable, all of what is likely, and no step in between', () => {
  assert.deepEqual([0, 0.2, 0.4, 1].map(presenceGain), [0, 0, 1, 1])
  const match = fc.double({ min: 0, max: 1, noNaN: true })
  fc.assert(
    fc.property(match, match, (a, b) => {
      const rise = presenceGain(Math.max(a, b)) - presenceGain(Math.min(a, b))
      assert.ok(rise >= 0 && rise <= 5.001 * Math.abs(a - b))
    }),
  )
})
