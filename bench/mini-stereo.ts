/**
 * The built-in model's cost of two channels compared with one: 10 s of noise at 44.1 kHz, in turns.
 * By processor time, which says as much on a busy machine: with two cores half of it is real time.
 *
 *   node --import tsx bench/mini-stereo.ts
 */
import { fileURLToPath } from 'node:url'
import { loadMini } from '../models/mini/mini.ts'
import { laneRequest, noise, separateOne } from '../test/support/models/lanes.ts'
import { quantile, report, round } from './report.ts'

const SECONDS = 10
const SAMPLE_RATE = 44_100
const TURNS = 8
/** Shapes that come again run as one graph from the eighth time on. */
const WARM_UP_TURNS = 8

const textEncoderFolder = fileURLToPath(new URL('../.runtime/text-encoder', import.meta.url))
const mini = await loadMini({ textEncoderFolder })
const [one, other] = [noise(SECONDS * SAMPLE_RATE, 1), noise(SECONDS * SAMPLE_RATE, 2)]

const inputs: Record<string, Float32Array[]> = {
  'one channel': [one],
  'two channels alike': [one, one],
  'two channels': [one, other],
}
const seconds: Record<string, number[]> = {}
for (let turn = 0; turn < WARM_UP_TURNS + TURNS; turn += 1) {
  for (const [name, channels] of Object.entries(inputs)) {
    const start = process.cpuUsage()
    separateOne(mini, laneRequest({ channels, sampleRate: SAMPLE_RATE }, 'rain'))
    if (turn >= WARM_UP_TURNS) (seconds[name] ??= []).push(spent(start))
  }
}
/** Seconds of processors. */
function spent(start: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(start)
  return (user + system) / 1e6
}

const alone = seconds['one channel']!
for (const [name, times] of Object.entries(seconds)) {
  const ratios = times.map((time, turn) => time / alone[turn]!)
  report(name, {
    'processor seconds per second of sound': round(quantile(times, 0.5) / SECONDS, 3),
    'ratio to one channel': round(quantile(ratios, 0.5), 2),
    quartiles: [0.25, 0.75].map((share) => round(quantile(ratios, share), 2)).join(' to '),
  })
}
