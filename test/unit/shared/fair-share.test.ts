import assert from 'node:assert/strict'
import test from 'node:test'
import { FairShare, nextAccount, type Share } from '../../../shared/fair-share.ts'
import { fc } from '../../support/basics/property.ts'

const account = fc.constantFrom<string[]>('a', 'b', 'c', 'd', 'e')
const share = fc.record({ inHand: fc.nat(8), lastTurn: fc.nat(50) })
const shares = fc.dictionary(account, share).map((record) => new Map(Object.entries(record)))
const waiting = fc.uniqueArray(account)

const NONE: Share = { inHand: 0, lastTurn: 0 }
const inHand = (shares: ReadonlyMap<string, Share>) =>
  [...shares.values()].reduce((sum, share) => sum + share.inHand, 0)

test('property: the next account waits, may take a slot, and has the fewest of all that may', () => {
  fc.assert(
    fc.property(waiting, shares, fc.integer({ min: 1, max: 40 }), (waiting, shares, slots) => {
      const free = slots - inHand(shares)
      const may = waiting.filter((account) => (shares.get(account) ?? NONE).inHand < free)
      const next = nextAccount(waiting, shares, slots)
      if (next === undefined) return assert.deepEqual(may, [])
      assert.ok(may.includes(next))
      const chosen = shares.get(next) ?? NONE
      for (const other of may.map((account) => shares.get(account) ?? NONE)) {
        assert.ok(
          chosen.inHand < other.inHand ||
            (chosen.inHand === other.inHand && chosen.lastTurn <= other.lastTurn),
        )
      }
    }),
  )
})

const fill = (fair: FairShare, waiting: readonly string[]) => {
  const taken: string[] = []
  for (let next = fair.next(waiting); next !== undefined; next = fair.next(waiting)) {
    fair.take(next)
    taken.push(next)
  }
  return taken
}

test('property: n accounts that never stop asking leave 1/(n + 1) of the slots free', () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(account, { minLength: 1 }),
      fc.integer({ min: 1, max: 200 }),
      (greedy, slots) => {
        const fair = new FairShare(slots)
        const taken = fill(fair, greedy)
        const left = slots - taken.length
        assert.ok(left >= Math.floor(slots / (greedy.length + 1)), `${left} of ${slots}`)
        const counts = greedy.map((account) => taken.filter((other) => other === account).length)
        assert.ok(Math.max(...counts) - Math.min(...counts) <= 1, 'all have the same')
        assert.equal(fair.next([...greedy, 'newcomer']), left > 0 ? 'newcomer' : undefined)
      },
    ),
  )
})

test('property: whichever slots become free, waiting accounts have the same number, give or take one', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 12 }),
      fc.array(fc.nat(), { maxLength: 100 }),
      (slots, ends) => {
        const [fair, everybody] = [new FairShare(slots), ['a', 'b', 'c']]
        const held = fill(fair, everybody)
        for (const end of ends) {
          fair.release(held.splice(end % held.length, 1)[0]!)
          held.push(...fill(fair, everybody))
          const counts = everybody.map(
            (account) => held.filter((other) => other === account).length,
          )
          assert.ok(Math.max(...counts) - Math.min(...counts) <= 1, counts.join())
        }
      },
    ),
  )
})

test('with a single slot accounts take turns, however much one of them has', () => {
  const fair = new FairShare(1)
  const turn = (waiting: string[]) => {
    const next = fair.next(waiting)!
    fair.take(next)
    assert.equal(fair.next(waiting), undefined, 'it is taken')
    fair.release(next)
    return next
  }
  const turns = Array.from({ length: 6 }, () => turn(['many', 'few', 'newcomer']))
  assert.deepEqual(turns, ['many', 'few', 'newcomer', 'many', 'few', 'newcomer'])
})
