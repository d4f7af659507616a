/**
 * What two channels cost the built-in model, beside one: 10 s of noise at 44.1 kHz, in turns.
 *
 *   node --import tsx bench/mini-stereo.ts
 */
import { performance } from 'node:perf_hooks'
import { fileURLToPath } from 'node:url'
import { loadMini } from '../models/mini/mini.ts'
import { laneRequest, noise, separateOne } from '../test/parity/lanes.ts'
import { quantile, report, round } from './report.ts'

const SECONDS = 10
const SAMPLE_RATE = 44_100
const TURNS = 8
const WARM_UP_TURNS = 3

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
    const start = performance.now()
    separateOne(mini, laneRequest({ channels, sampleRate: SAMPLE_RATE }, 'rain'))
    if (turn >= WARM_UP_TURNS) (seconds[name] ??= []).push((performance.now() - start) / 1000)
  }
}
const alone = seconds['one channel']!
for (const [name, times] of Object.entries(seconds)) {
  const ratios = times.map((time, turn) => time / alone[turn]!)
  report({
    input: name,
    'real-time factor': round(quantile(times, 0.5) / SECONDS, 3),
    'ratio to one channel': round(quantile(ratios, 0.5), 2),
    quartiles: [0.25, 0.75].map((share) => round(quantile(ratios, share), 2)).join(' to '),
  })
}
