import assert from 'node:assert/strict'
import test from 'node:test'
import { Timeline } from '../../../bench/capacity/heap.ts'
import { simulate, type Demand, type Fleet } from '../../../bench/capacity/simulate.ts'
import { enginesNeeded } from '../../../bench/capacity/plan.ts'
import { fc } from '../../support/basics/property.ts'

/** Ten seconds of media take an engine one second, however many jobs there are. */
const SERVICE = { alone: { intercept: 0, slope: 0.1 }, demand: { intercept: 0, slope: 0.1 } }
const FLEET: Fleet = {
  engines: 1,
  jobsMax: 1,
  service: SERVICE,
  coldStartSeconds: 10,
  leaseSeconds: 30,
  drainSeconds: 30,
}
const TENS = [{ seconds: 10, weight: 1 }]
const demand = (perSecond: number, seconds = 50_000): Demand => ({
  mix: TENS,
  perSecond,
  seconds,
  seed: 1,
})

test('a timeline gives what was added by time', () => {
  const time = fc.double({ noNaN: true }).map((at) => at + 0) // -0 and 0 are one time
  fc.assert(
    fc.property(fc.array(time), (times) => {
      const timeline = new Timeline<number>()
      for (const at of times) timeline.add(at, at)
      const given = times.map(() => timeline.next()!.at)
      assert.deepEqual(
        given,
        [...times].sort((a, b) => a - b),
      )
      assert.equal(timeline.next(), undefined)
    }),
  )
})

test('one engine that takes one job at a time waits as M/D/1 does', () => {
  for (const load of [0.3, 0.6, 0.8]) {
    const { p50, utilisation, requests } = simulate(FLEET, demand(load))
    assert.ok(Math.abs(utilisation - load) < 0.02, `${utilisation} at ${load}`)
    assert.ok(Math.abs(requests / (load * 45_000) - 1) < 0.05)
    // Erlang: with probability 1 − load nobody waits, so at 0.3 half do not.
    if (load < 0.5) assert.ok(Math.abs(p50 - 1) < 1e-6, `${p50}`)
  }
  // M/D/1 at 0.8: P(wait > 6.5 services) is about 5 % (asymptote of Tijms).
  const { p95 } = simulate(FLEET, demand(0.8))
  assert.ok(p95 > 6 && p95 < 9, `${p95}`)
})

test('many engines bear near to their full rate, one does not', () => {
  const alone = simulate(FLEET, demand(0.95))
  const many = simulate({ ...FLEET, engines: 100 }, demand(95, 2_000))
  assert.ok(many.p95 < alone.p95 / 3, `${many.p95} beside ${alone.p95}`)
})

test('jobs share an engine, and one that leaves it idle in part lets others in', () => {
  const idleInPart = { alone: { intercept: 0, slope: 0.2 }, demand: { intercept: 0, slope: 0.1 } }
  const one = simulate({ ...FLEET, service: idleInPart }, demand(0.4))
  const two = simulate({ ...FLEET, service: idleInPart, jobsMax: 8 }, demand(0.4))
  assert.ok(one.p95 > 2 * two.p95, `${one.p95} beside ${two.p95}`)
  assert.equal(simulate({ ...FLEET, service: idleInPart }, demand(0.01)).p50, 2)
})

test('more load than there is room for never ends well', () => {
  assert.equal(simulate(FLEET, demand(4, 2_000)).p95, Infinity)
})

test('every request ends, whatever fails and is drained, and only then is anything repeated', () => {
  let repeated = 0
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 5 }),
      fc.integer({ min: 1, max: 8 }),
      fc.nat(),
      (engines, jobsMax, seed) => {
        const fleet = { ...FLEET, engines, jobsMax }
        const asked = { ...demand(0.4 * engines, 5_000), seed }
        const calm = simulate(fleet, asked)
        assert.equal(calm.repeated, 0)
        const stormy = simulate({ ...fleet, failureHours: 0.2, deployHours: 1 }, asked)
        repeated += stormy.repeated
        assert.ok(stormy.p99 >= calm.p50)
        // Arrivals are drawn among failures, so that there are about as many.
        assert.ok(
          Math.abs(stormy.requests / (0.4 * engines * 4_500) - 1) < 0.2,
          `${stormy.requests}`,
        )
      },
    ),
    { numRuns: 20 },
  )
  assert.ok(repeated > 0)
})

test('the fleet that is needed keeps the limit, and one engine fewer does not', () => {
  const limits = { p95Seconds: 5, mix: TENS, perSecond: 3 }
  const engines = enginesNeeded(FLEET, limits)!
  const run = (count: number) => simulate({ ...FLEET, engines: count }, demand(3, 3_600)).p95
  assert.ok(engines >= 4 && engines <= 5, `${engines}`)
  assert.ok(run(engines) <= 5)
  assert.ok(run(engines - 1) > 5)
  assert.equal(enginesNeeded(FLEET, { ...limits, p95Seconds: 0.5 }), null, 'not even alone')
})
