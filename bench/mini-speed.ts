/**
 * Question: how fast is the built-in model, in either precision, compared with that of other
 * checkouts? Measured from samples to samples, transforms included and without the text encoder; in
 * turns, in one run.
 *
 *   npm run bench -- mini-speed [turns] [checkouts...]
 */
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { WARM_UP_CALLS } from '../models/graph/graph-cache.ts'
import { PRECISIONS } from '../models/tensorflow/precision.ts'
import { load1 } from './load/own-service.ts'
import { startMeasuring, type MeasuringProcess } from './measuring-process.ts'
import { quantile, report, round } from './report.ts'

const SECONDS = 10
const BATCHES = [1, 4, 8]
/** This checkout. */
const OURS = '.'

const [turnsWord, ...checkouts] = process.argv.slice(2)
const turns = Number(turnsWord ?? 12)
const peers = new Map<string, MeasuringProcess>()
for (const checkout of [OURS, ...checkouts]) peers.set(checkout, startCheckout(resolve(checkout)))
for (const channels of [1, 2]) for (const batch of BATCHES) await compare(batch, channels)
for (const peer of peers.values()) peer.stop()

function startCheckout(checkout: string): MeasuringProcess {
  const program = fileURLToPath(new URL('mini-speed/steps.ts', import.meta.url))
  return startMeasuring(process.execPath, ['--import', 'tsx', program, checkout])
}

/** Reports the time of each peer in each precision, compared with this checkout. */
async function compare(batch: number, channels: number): Promise<void> {
  const names = [...peers.keys()]
  for (const precision of PRECISIONS) {
    const turnsOf = new Map<string, number[][]>(names.map((name) => [name, []]))
    for (let turn = -WARM_UP_CALLS; turn < turns; turn += 1) {
      for (const name of names) {
        const line = `${batch} ${SECONDS} ${precision} ${channels}`
        const millis = await peers.get(name)!.measure(line)
        if (turn >= 0) turnsOf.get(name)!.push(millis)
      }
    }
    for (const [name, pairs] of turnsOf) {
      const timesOurs = (kind: number) => {
        const ratios = pairs.map((millis, turn) => millis[kind]! / turnsOf.get(OURS)![turn]![kind]!)
        return [0.25, 0.5, 0.75].map((share) => round(quantile(ratios, share)))
      }
      const [millis, cpuMillis] = [0, 1].map((kind) => pairs.map((pair) => pair[kind]!))
      report('milliseconds to separate a batch', {
        name,
        precision,
        batch,
        channels,
        seconds: SECONDS,
        n: turns,
        least: round(Math.min(...millis!)),
        median: round(quantile(millis!, 0.5)),
        cpuLeast: round(Math.min(...cpuMillis!)),
        cpuMedian: round(quantile(cpuMillis!, 0.5)),
        timesOurs: timesOurs(0),
        timesOurCpuTime: timesOurs(1),
        load1: load1(),
      })
    }
  }
}
