/**
 * Question: how long does a submit take at so many a second, durable when it is answered?
 *
 * `node --import tsx bench/gateway-submit.ts [per second] [seconds]`: starts nats-server and a
 * gateway, uploads one file and submits it at random times (exponential gaps), over connections
 * that are kept. A submit is timed from when it was due, so that a late client or a full event loop
 * counts. One JSON line; `disk_flush_ms` is what a small write and its flush by another process
 * cost on the same disk meanwhile, and `gateway_wait_percent` how long the gateway was ready to run
 * while others had the processors: these distinguish a busy machine from a slow gateway.
 */

import { mkdtemp, open, readFile, rm } from 'node:fs/promises'
import { loadavg } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createScope } from '../test/support/processes/scope.ts'
import { examplePath } from '../test/support/media/examples.ts'
import { API_KEY, startWinnow } from '../test/support/processes/start-winnow.ts'
import { quantile, report, round } from './report.ts'
import { endSubmits, submitFor } from './submit-load.ts'

const perSecond = Number(process.argv[2] ?? 200)
const seconds = Number(process.argv[3] ?? 20)
const WARM_UP_SECONDS = 3

const scope = createScope()
const winnow = await startWinnow(scope, {
  engines: 0,
  env: { QUEUE_MAX: '1000000', DRAIN_SECONDS: '0' },
})
const fileId = await winnow.client.upload(
  examplePath('speech-over-piano.wav'),
  'audio/wav',
  () => undefined,
)
const body = JSON.stringify({ input: { prompt: 'piano', file_id: fileId } })

const load = { urls: [winnow.url], apiKey: API_KEY, body, perSecond }

await submitFor({ ...load, seconds: WARM_UP_SECONDS })
const loadBefore = loadavg()[0] ?? 0
const waitedBefore = await secondsWaited()
const [{ ms, failed, flights }, disk] = await Promise.all([
  submitFor({ ...load, seconds }),
  flushTimes(winnow.folder, seconds),
])
const waited = (await secondsWaited()) - waitedBefore
report('submit latency', {
  per_second: perSecond,
  seconds,
  n: ms.length,
  failed,
  p50_ms: round(quantile(ms, 0.5)),
  p90_ms: round(quantile(ms, 0.9)),
  p99_ms: round(quantile(ms, 0.99)),
  worst_ms: round(Math.max(...ms)),
  in_flight_most: flights,
  disk_flush_ms: { p50: round(quantile(disk, 0.5)), p99: round(quantile(disk, 0.99)) },
  gateway_wait_percent: round((100 * waited) / seconds),
  load_before: round(loadBefore),
  load_after: round(loadavg()[0] ?? 0),
})

endSubmits()
await scope.end()

/** How long the gateway has been ready to run and did not, so far. */
async function secondsWaited(): Promise<number> {
  const { pid } = winnow.gateway.child
  const [, waitedNs] = (await readFile(`/proc/${pid}/task/${pid}/schedstat`, 'utf8')).split(' ')
  return Number(waitedNs) / 1e9
}

/** Milliseconds of a small write with its flush, ten times a second, where the database lives. */
async function flushTimes(folder: string, lengthSeconds: number): Promise<number[]> {
  const aside = await mkdtemp(join(folder, 'flush-'))
  const file = await open(join(aside, 'file'), 'w')
  const times: number[] = []
  for (let i = 0; i < 10 * lengthSeconds; i += 1) {
    await file.write(Buffer.alloc(4096, i))
    const startedAt = performance.now()
    await file.datasync()
    times.push(performance.now() - startedAt)
    await sleep(100)
  }
  await file.close()
  await rm(aside, { recursive: true })
  return times
}
