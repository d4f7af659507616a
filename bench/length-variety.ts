/**
 * Question: does memory grow with the variety of lengths that the built-in model is given?
 *
 * `node --expose-gc --import tsx bench/length-variety.ts [steps] [secondsMax]`: steps clips of
 * random lengths up to that (600 steps, 4 s), one or two at a time, and prints the resident memory
 * before the first, at every quarter and at the end.
 */

import { loadMini } from '../models/mini/mini.ts'
import { openLane, closeLane, type LaneRequest } from '../models/model.ts'
import { noise } from '../test/support/media/signals.ts'
import { report } from './report.ts'

const stepCount = Number(process.argv[2] ?? 600)
const secondsMax = Number(process.argv[3] ?? 4)

const SAMPLE_RATE = 44_100
const SECONDS_MIN = 0.1
const MIB = 2 ** 20
const PROMPTS = ['rain', 'a dog barking', 'someone speaks in a large hall', 'bell']

const model = await loadMini({ textEncoderFolder: '.runtime/text-encoder' })
let state = 1
for (let i = 0; i < 10; i += 1) step()
const residentMib = [memory()]
const startedAt = performance.now()
for (let i = 1; i <= stepCount; i += 1) {
  step()
  if (i % Math.ceil(stepCount / 4) === 0) residentMib.push(memory())
}
report('length-variety', {
  steps: stepCount,
  seconds_max: secondsMax,
  resident_mib: residentMib,
  ms_per_step: Math.round((performance.now() - startedAt) / stepCount),
})

/** One or two clips, of lengths of their own. */
function step(): void {
  const lanes = Array.from({ length: random() < 0.5 ? 1 : 2 }, () => openLane(model, clip()))
  model.step(lanes)
  for (const lane of lanes) closeLane(model, lane)
}

function clip(): LaneRequest {
  const seconds = SECONDS_MIN + random() * (secondsMax - SECONDS_MIN)
  const channels = [noise(seconds, SAMPLE_RATE, 1 + Math.floor(1e6 * random()))]
  return {
    chunk: { channels, sampleRate: SAMPLE_RATE },
    prompt: PROMPTS[Math.floor(random() * PROMPTS.length)]!,
    spans: [],
    acceleration: 'balanced',
    seed: 1,
  }
}

/** The next of a fixed row of numbers from 0 to 1. */
function random(): number {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
  return state / 2 ** 32
}

/** Resident, after a collection of garbage where the command line allows one. */
function memory(): number {
  globalThis.gc?.()
  return Math.round(process.memoryUsage().rss / MIB)
}
