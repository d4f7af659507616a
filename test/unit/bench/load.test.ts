import assert from 'node:assert/strict'
import test from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { closedLoop, NOT_SENT, openLoop, UNFINISHED, type Send } from '../../../bench/load/drive.ts'
import { meanSeconds, parseMix, poissonArrivals } from '../../../bench/load/mix.ts'
import { seededRandom } from '../../support/basics/random.ts'
import { summarise } from '../../../bench/load/summary.ts'
import { stagesOf } from '../../../bench/load/winnow-requests.ts'

const LIMITS = { drainMs: 60_000, inFlightMax: 1_000 }
const completed = { code: 'COMPLETED' }

test('a mix is read, and what is none is refused', () => {
  const mix = parseMix('4s:4, 30s:4,180s:1')
  assert.deepEqual(mix[2], { seconds: 180, weight: 1 })
  assert.equal(meanSeconds(mix), (16 + 120 + 180) / 9)
  for (const wrong of ['', '4', '4s', '0s:1', '4s:0', '4s:1,4s:2', '9999s:1']) {
    assert.throws(() => parseMix(wrong), /a mix is such as|each length stands once/)
  }
})

test('arrivals have the rate and the lengths that were asked for, and a seed gives the same again', () => {
  const mix = parseMix('4s:3,30s:1')
  const arrivals = poissonArrivals(mix, 50, 100, seededRandom(7))
  assert.ok(Math.abs(arrivals.length - 5_000) < 4 * Math.sqrt(5_000), `${arrivals.length}`)
  const short = arrivals.filter(({ audioSeconds }) => audioSeconds === 4).length
  assert.ok(Math.abs(short / arrivals.length - 0.75) < 0.03)
  const gaps = arrivals.slice(1).map(({ dueMs }, i) => dueMs - arrivals[i]!.dueMs)
  const meanGap = gaps.reduce((sum, gap) => sum + gap, 0) / gaps.length
  const variance = gaps.reduce((sum, gap) => sum + (gap - meanGap) ** 2, 0) / gaps.length
  assert.ok(Math.abs(Math.sqrt(variance) / meanGap - 1) < 0.1, 'exponential: deviation like mean')
  assert.deepEqual(poissonArrivals(mix, 50, 100, seededRandom(7)), arrivals)
})

test('a latency counts from when the request was due, not from when it could be sent', async () => {
  let busyUntil = 0
  const oneAtATime: Send = async () => {
    const now = performance.now()
    busyUntil = Math.max(busyUntil, now) + 20
    await sleep(busyUntil - now)
    return completed
  }
  const arrivals = Array.from({ length: 10 }, () => ({ dueMs: 0, audioSeconds: 1 }))
  const outcomes = await openLoop(arrivals, oneAtATime, LIMITS)
  const longest = Math.max(...outcomes.map(({ latencyMs }) => latencyMs))
  assert.ok(longest >= 195, `the tenth waits for nine others: ${longest}`)
})

test('what is still under way at the end is given up, and counted', async () => {
  const never: Send = (_, signal) =>
    new Promise((resolve) => signal.addEventListener('abort', () => resolve({ code: 'ABORTED' })))
  const arrivals = [0, 0, 0].map((dueMs) => ({ dueMs, audioSeconds: 1 }))
  const outcomes = await openLoop(arrivals, never, { drainMs: 30, inFlightMax: 2 })
  assert.deepEqual(
    outcomes.map(({ code }) => code).sort(),
    [NOT_SENT, UNFINISHED, UNFINISHED].sort(),
  )
  const { errors, latency_ms } = summarise(outcomes)
  assert.deepEqual(errors, { [NOT_SENT]: 1, [UNFINISHED]: 2 })
  assert.equal(latency_ms.n, 2, 'what was never sent has no latency')
})

test('a closed loop has so many under way, and does all of the work', async () => {
  let [inFlight, most] = [0, 0]
  const send: Send = async () => {
    inFlight += 1
    most = Math.max(most, inFlight)
    await sleep(2)
    inFlight -= 1
    return completed
  }
  const { outcomes } = await closedLoop([1, 2, 3, 4, 5, 6, 7], 3, send)
  assert.equal(most, 3)
  assert.deepEqual(outcomes.map(({ audioSeconds }) => audioSeconds).sort(), [1, 2, 3, 4, 5, 6, 7])
})

test('stages follow the marks of the server and add up to the latency', () => {
  const at = (ms: number) => new Date(1_000_000 + ms).toISOString()
  const common = { created_at: at(0), request_id: 'r', model: 'audio/separate', result_url: '' }
  const logs = [
    { timestamp: at(150), message: 'Decoding pcm_s16le in wav: 44100 Hz, 2 channels.' },
    { timestamp: at(450), message: 'Separated 4.00 s with mini in one chunk; balanced: one pass.' },
  ]
  const statuses = [
    { ...common, status: 'IN_QUEUE', updated_at: at(0) },
    { ...common, status: 'IN_PROGRESS', updated_at: at(100) },
    { ...common, status: 'COMPLETED', updated_at: at(500), logs },
  ] as Parameters<typeof stagesOf>[0]
  assert.deepEqual(stagesOf(statuses, 5, 520), {
    submit: 5,
    queue: 100,
    read: 50,
    separate: 300,
    store: 50,
    notice: 15,
  })
})
