/**
 * Question: how fast is the whole service on this machine, how much of the time is not the model,
 * and what does batching requests of several clients gain?
 *
 * `node --import tsx bench/end-to-end.ts [rounds]`: starts nats-server, a gateway and an engine,
 * and submits a one-minute stereo file (noise and beeps) alone, eight at once, and eight one after
 * the other, in turns; then the same with files of 4 s. One JSON line per case: real-time factor
 * (median, least, most), and `other_percent`, the share of the wall time in which the compute
 * thread was idle.
 */

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { connectEngine, type EngineStats } from '../shared/engine-control.ts'
import { createScope } from '../test/support/processes/scope.ts'
import { noise, sine } from '../test/support/media/signals.ts'
import { wavBytes } from '../test/support/media/wav.ts'
import { separateFile, startWinnow, type Winnow } from '../test/support/processes/start-winnow.ts'
import { quantile, report, round } from './report.ts'

const rounds = Number(process.argv[2] ?? 5)
const SAMPLE_RATE = 44_100

interface Measure {
  rtf: number
  otherPercent: number
  meanBatch: number
}

const scope = createScope()
const winnow = await startWinnow(scope)
const engine = connectEngine(winnow.engines[0]?.ready.control ?? '')

for (const seconds of [60, 4]) {
  const path = await beepsInNoise(winnow, seconds)
  const cases = {
    one: () => separateFile(winnow, path, { prompt: 'beep' }),
    eight_at_once: () => times(8, () => separateFile(winnow, path, { prompt: 'beep' })),
    eight_in_turn: async () => {
      for (let i = 0; i < 8; i += 1) await separateFile(winnow, path, { prompt: 'beep' })
    },
  }
  const measures = new Map<string, Measure[]>()
  await cases.one() // the first request of a shape is slow, so it is not measured
  for (let round = 0; round < rounds; round += 1) {
    for (const [name, run] of Object.entries(cases)) {
      const measure = await timed(run, name === 'one' ? seconds : 8 * seconds)
      measures.set(name, [...(measures.get(name) ?? []), measure])
    }
  }
  for (const [name, list] of measures) reportCase(name, seconds, list)
  const ratios = measures
    .get('eight_in_turn')!
    .map((turn, i) => turn.rtf / measures.get('eight_at_once')![i]!.rtf)
  report('end-to-end', { case: 'at once against in turn', seconds, speed_up: spread(ratios) })
}

engine.close()
await scope.end()

async function timed(run: () => Promise<unknown>, audioSeconds: number): Promise<Measure> {
  const before = await stats()
  const startedAt = performance.now()
  await run()
  const wallSeconds = (performance.now() - startedAt) / 1000
  const after = await stats()
  const busySeconds = after.busy_seconds_total - before.busy_seconds_total
  return {
    rtf: wallSeconds / audioSeconds,
    otherPercent: 100 * (1 - busySeconds / wallSeconds),
    meanBatch:
      (after.lane_steps_total - before.lane_steps_total) / (after.steps_total - before.steps_total),
  }
}

function stats(): Promise<EngineStats> {
  return new Promise((resolve) => {
    const stop = engine.watchStats(60_000, (latest) => {
      stop()
      resolve(latest)
    })
  })
}

function times(count: number, run: () => Promise<unknown>): Promise<unknown> {
  return Promise.all(Array.from({ length: count }, run))
}

async function beepsInNoise({ folder }: Winnow, seconds: number): Promise<string> {
  const path = join(folder, `bench-${seconds}.wav`)
  const beep = sine(880, seconds, SAMPLE_RATE)
  const mix = (seed: number) =>
    noise(seconds, SAMPLE_RATE, seed).map(
      (x, i) => 0.3 * x + (i % SAMPLE_RATE < 10_000 ? (beep[i] ?? 0) : 0),
    )
  await writeFile(path, wavBytes([mix(1), mix(2)], SAMPLE_RATE))
  return path
}

function reportCase(name: string, seconds: number, list: readonly Measure[]): void {
  report('end-to-end', {
    case: name,
    seconds,
    rtf: spread(list.map(({ rtf }) => rtf)),
    other_percent: spread(list.map(({ otherPercent }) => otherPercent)),
    mean_batch: spread(list.map(({ meanBatch }) => meanBatch)),
  })
}

function spread(values: readonly number[]) {
  const at = (share: number) => round(quantile(values, share))
  return { median: at(0.5), least: at(0), most: at(1), n: values.length }
}
