import assert from 'node:assert/strict'
import test from 'node:test'
import {
  accountKeyOf,
  nextBatch,
  type DeviceSeconds,
  type WaitingLane,
} from '../../../../engine/compute/batch-policy.ts'
import { fc } from '../../../support/basics/property.ts'

const nobodyServed: DeviceSeconds = { accounts: new Map(), requests: new Map() }

const lane = (
  id: number,
  requestId: string,
  accountId = 'a',
  frames = 100,
  rows = 1,
): WaitingLane => ({ id, requestId, accountId, model: 'test', rows, frames })

/** The same limits for every model, with one second per frame. */
const limits = (framesMax: number) => () => ({ framesMax, secondsPerFrame: 1 })

const ids = (lanes: readonly WaitingLane[]) => lanes.map(({ id }) => id)

test('the budget counts rows, each as long as the longest', () => {
  const waiting = [lane(1, 'r1', 'a', 100, 2), lane(2, 'r2', 'a', 90), lane(3, 'r3', 'a', 90)]
  assert.deepEqual(ids(nextBatch(waiting, nobodyServed, limits(300))), [1, 2])
  assert.deepEqual(ids(nextBatch(waiting, nobodyServed, limits(400))), [1, 2, 3])
})

test('a short request overtakes one that has been served a lot', () => {
  const served = { accounts: new Map([['interactive a', 900]]), requests: new Map([['long', 900]]) }
  const waiting = [lane(1, 'long'), lane(2, 'long'), lane(3, 'short')]
  assert.deepEqual(ids(nextBatch(waiting, served, limits(100))), [3])
})

test('an account with many requests gets no more than its share of a batch', () => {
  const waiting = [
    ...[1, 2, 3, 4, 5, 6].map((id) => lane(id, `flood${id}`, 'flooder')),
    lane(7, 'single', 'modest'),
    lane(8, 'single', 'modest'),
  ]
  const batch = nextBatch(waiting, nobodyServed, limits(400))
  assert.equal(batch.filter(({ accountId }) => accountId === 'modest').length, 2)
})

test('lanes that would fill the batch with padding wait for the next one', () => {
  const waiting = [
    lane(1, 'long', 'a', 1_000),
    lane(2, 'short', 'b', 50),
    lane(3, 'like', 'c', 900),
  ]
  assert.deepEqual(ids(nextBatch(waiting, nobodyServed, limits(10_000))), [1, 3])
})

test('every batch keeps to the budget, has no lane twice, and is never empty while lanes wait', () => {
  const lanes = fc.array(
    fc.record({
      accountId: fc.constantFrom('a', 'b', 'c'),
      requestId: fc.constantFrom('r1', 'r2', 'r3', 'r4'),
      rows: fc.integer({ min: 1, max: 2 }),
      frames: fc.integer({ min: 1, max: 2_000 }),
    }),
    { minLength: 1, maxLength: 20 },
  )
  fc.assert(
    fc.property(lanes, fc.integer({ min: 1, max: 8_000 }), (drawn, framesMax) => {
      const waiting = drawn.map((each, id) => ({ id, model: 'test', ...each }))
      const batch = nextBatch(waiting, nobodyServed, limits(framesMax))
      assert.ok(batch.length > 0)
      assert.equal(new Set(ids(batch)).size, batch.length)
      const rows = batch.reduce((sum, lane) => sum + lane.rows, 0)
      const padded = Math.max(...batch.map(({ frames }) => frames)) * rows
      assert.ok(batch.length === 1 || padded <= framesMax)
    }),
  )
})

test('whatever arrives, every lane is eventually served', () => {
  const lanes = Array.from({ length: 30 }, (_, id) =>
    lane(id, `r${id % 7}`, `a${id % 3}`, 10 + ((id * 37) % 400)),
  )
  const served = { accounts: new Map<string, number>(), requests: new Map<string, number>() }
  let waiting = lanes
  for (let step = 0; waiting.length > 0; step += 1) {
    assert.ok(step < 100)
    const batch = new Set(ids(nextBatch(waiting, served, limits(500))))
    for (const { id, accountId, requestId, frames } of waiting) {
      if (!batch.has(id)) continue
      const key = accountKeyOf({ accountId })
      served.accounts.set(key, (served.accounts.get(key) ?? 0) + frames)
      served.requests.set(requestId, (served.requests.get(requestId) ?? 0) + frames)
    }
    waiting = waiting.filter(({ id }) => !batch.has(id))
  }
})

test('a batch has lanes of one model: that of the first lane', () => {
  const waiting = [
    { ...lane(1, 'r1', 'a'), model: 'stems' },
    lane(2, 'r2', 'b'),
    { ...lane(3, 'r3', 'c'), model: 'stems' },
  ]
  const served = { accounts: new Map([['interactive b', 50]]), requests: new Map() }
  assert.deepEqual(ids(nextBatch(waiting, served, limits(1_000))), [1, 3])
  served.accounts.set('interactive a', 60).set('interactive c', 60)
  assert.deepEqual(ids(nextBatch(waiting, served, limits(1_000))), [2])
})

test("an account's share of a batch counts in seconds, not in frames of other models", () => {
  const waiting = [
    ...[1, 2, 3].map((id) => ({ ...lane(id, 'r1', 'slow'), model: 'slow' })),
    ...[4, 5, 6].map((id) => lane(id, 'r2', 'quick')),
  ]
  const served = {
    accounts: new Map([
      ['interactive slow', 0.9],
      ['interactive quick', 1],
    ]),
    requests: new Map(),
  }
  const perModel = (model: string) => ({
    framesMax: 1_000,
    secondsPerFrame: model === 'slow' ? 1 : 0.001,
  })
  assert.deepEqual(ids(nextBatch(waiting, served, perModel)), [1, 2, 3])
  served.accounts.set('interactive slow', 300.9)
  assert.deepEqual(ids(nextBatch(waiting, served, perModel)), [4, 5, 6])
})

const USUAL_ROWS = [1, 2, 3, 4, 6, 8, 12, 16, 32, 64, 128]

/** Returns the number of rows in a batch made from lanes with these numbers of rows. */
function rowsTaken(rows: readonly number[]): number {
  const waiting = rows.map((each, id) => lane(id, `r${id}`, 'a', 100, each))
  const batch = nextBatch(waiting, nobodyServed, limits(20_000))
  return batch.reduce((sum, { rows: own }) => sum + own, 0)
}

test('batches have few different numbers of rows', () => {
  const load = fc.array(fc.integer({ min: 1, max: 2 }), { minLength: 1, maxLength: 64 })
  fc.assert(fc.property(load, (rows) => assert.ok(USUAL_ROWS.includes(rowsTaken(rows)))))
})

test('at most a third of a few equal lanes waits, and at most half of many', () => {
  for (const each of [1, 2]) {
    for (let lanes = 1; lanes <= 100; lanes += 1) {
      const share = rowsTaken(Array<number>(lanes).fill(each)) / (each * lanes)
      assert.ok(share >= (each * lanes < 16 ? 2 / 3 : 1 / 2), `${lanes} of ${each}: ${share}`)
    }
  }
})

test('service in one class does not count in the other', () => {
  const waiting = [
    lane(1, 'r1', 'a'),
    lane(2, 'r2', 'b'),
    { ...lane(3, 'r3', 'a'), priority: 'batch' as const },
    { ...lane(4, 'r4', 'b'), priority: 'batch' as const },
  ]
  const served = {
    accounts: new Map([
      ['batch a', 900],
      ['interactive b', 100],
      ['interactive a', 200],
    ]),
    requests: new Map(),
  }
  const first = (lanes: typeof waiting) => ids(nextBatch(lanes, served, limits(100)))
  assert.deepEqual(first(waiting.slice(0, 2)), [2])
  assert.deepEqual(first(waiting.slice(2)), [4])
})

test('the class that was served least for its share goes first, whichever the account', () => {
  const waiting = [
    { ...lane(1, 'r1', 'a'), priority: 'batch' as const },
    { ...lane(2, 'r2', 'b'), priority: 'batch' as const },
    lane(3, 'r3', 'c'),
  ]
  const served = { accounts: new Map([['interactive c', 900]]), requests: new Map([['r3', 900]]) }
  const of = (interactive: number, batch: number) =>
    new Map([
      ['interactive', interactive],
      ['batch', batch],
    ] as const)
  const next = (priorities: ReturnType<typeof of>) =>
    ids(nextBatch(waiting, { ...served, priorities }, limits(100)))
  assert.deepEqual(next(of(1, 2)), [3])
  assert.deepEqual(next(of(2, 1)), [1])
})
