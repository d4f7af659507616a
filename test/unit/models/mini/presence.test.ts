/** How much of the target passes at each match. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { matchOf, presenceGain } from '../../../../models/mini/presence.ts'
import { fc } from '../../../support/basics/property.ts'

/** Two gains, none above 1, each rounded four times. */
const ROUNDING = 4 * Number.EPSILON

test('28 dB less of improbable sounds, all of possible ones, no step between, and never silence', () => {
  const decibels = [0, 0.15, 0.25, 1].map((match) => 20 * Math.log10(presenceGain(match)))
  assert.deepEqual(decibels.map(Math.round), [-28, -28, 0, 0])
  assert.equal(presenceGain(0.25), 1)
  const match = fc.double({ min: 0, max: 1, noNaN: true })
  fc.assert(
    fc.property(match, match, (a, b) => {
      const rise = presenceGain(Math.max(a, b)) - presenceGain(Math.min(a, b))
      assert.ok(rise >= 0 && rise <= 10 * Math.abs(a - b) + ROUNDING, `${a} and ${b}: ${rise}`)
    }),
  )
})

test('the match rises with the probability and with how much was found; a soft sound is not penalized', () => {
  for (const share of [0, 0.01, 0.2]) assert.equal(matchOf(0.3, share).toFixed(9), '0.300000000')
  assert.ok(matchOf(0.07, 0.9) > 0.25, 'what is nearly all of the mixture keeps its level')
  assert.deepEqual([matchOf(0, 1), matchOf(1, 0), matchOf(1, 1)], [0, 1, 1])
  const share = fc.double({ min: 0, max: 1, noNaN: true })
  fc.assert(
    fc.property(share, share, share, (a, b, other) => {
      const [less, more] = [Math.min(a, b), Math.max(a, b)]
      assert.ok(matchOf(less, other) <= matchOf(more, other) && matchOf(more, other) <= 1)
      assert.ok(matchOf(other, less) <= matchOf(other, more))
    }),
    { examples: [[0.8666666666676559, 0.866666666667656, 0.9999999999999996]] },
  )
})
