/**
 * Measures the gain of candidates, predicted spans and `quality` with the built-in model. Minutes
 * of two sources that come and go, at equal power, in chunks of 10 s joined as an engine does it.
 *
 *   node --import tsx bench/mini-options.ts <folder of ESC-10 by class>
 */
import { fileURLToPath } from 'node:url'
import { planChunks, Stitcher } from '../engine/job/chunks.ts'
import { cutChunks } from '../test/support/engine/cut-chunks.ts'
import { loadMini } from '../models/mini/mini.ts'
import { openLane, closeLane, type LaneRequest, type HeadResult } from '../models/model.ts'
import { concatenate } from '../test/support/media/signals.ts'
import {
  collect,
  loadMixtures,
  mean,
  SAMPLE_RATE,
  siSdr,
  type LongMixture,
} from './esc10-minutes.ts'
import { report, round } from './report.ts'

const CHUNK = { chunkSecondsMax: 10, overlapSeconds: 1 }
/** A hundredth of a second in which the source is this much below its mean is silent: 50 dB. */
const SILENT = 1e-5

interface Setting {
  candidates?: number
  request?: Partial<LaneRequest>
}

interface Outcome {
  improvement: number
  /** Residue of the mixture where the target is silent, in decibels. */
  leak: number
}

const folder = process.argv[2]
if (!folder) throw new Error('usage: mini-options.ts <folder of ESC-10 by class>')
const textEncoderFolder = fileURLToPath(new URL('../.runtime/text-encoder', import.meta.url))
const mini = await loadMini({ textEncoderFolder })
const mixtures = await loadMixtures(folder)
const plain = mixtures.map((mixture) => outcome(mixture, {}))
await compare('plain', {})
await compare('predict_spans', { request: { predictSpans: true } })
await compare('quality', { request: { acceleration: 'quality' } })
for (const candidates of [2, 4, 8]) await compare(`${candidates} candidates`, { candidates })

async function compare(name: string, setting: Setting): Promise<void> {
  const before = await Promise.all(plain)
  const after: Outcome[] = []
  for (const mixture of mixtures) after.push(await outcome(mixture, setting))
  const gains = after.map(({ improvement }, i) => improvement - before[i]!.improvement)
  const variance = mean(gains.map((gain) => (gain - mean(gains)) ** 2))
  report('what options gain', {
    setting: name,
    n: mixtures.length,
    siSdrImprovementMean: round(mean(after.map(({ improvement }) => improvement))),
    gain: round(mean(gains)),
    gainStandardError: round(Math.sqrt(variance / (gains.length - 1))),
    gainLeast: round(Math.min(...gains)),
    leakMean: round(mean(after.map(({ leak }) => leak))),
  })
}

async function outcome(minute: LongMixture, setting: Setting): Promise<Outcome> {
  const { target, mixture } = minute
  const estimate = await separate(minute, setting)
  const frame = SAMPLE_RATE / 100
  const floor = SILENT * power(target, 0, target.length)
  let [left, all] = [0, 0]
  for (let from = 0; from + frame <= target.length; from += frame) {
    if (power(target, from, frame) > floor) continue
    left += power(estimate, from, frame)
    all += power(mixture, from, frame)
  }
  return {
    improvement: siSdr(estimate, target) - siSdr(mixture, target),
    leak: 10 * Math.log10((left + 1e-12) / (all + 1e-12)),
  }
}

async function separate(
  { prompt, mixture }: LongMixture,
  { candidates = 1, request = {} }: Setting,
): Promise<Float32Array> {
  const plan = planChunks({
    ...CHUNK,
    sampleRate: SAMPLE_RATE,
    channels: 1,
    modelChunkSecondsMax: CHUNK.chunkSecondsMax,
    modelOverlapSecondsMax: CHUNK.overlapSeconds,
    frameSamples: mini.description.frameSamples,
  })
  const blocks = (async function* () {
    yield [mixture]
  })()
  const stitcher = new Stitcher(plan)
  const parts: Float32Array[][] = []
  for (const { startSample, channels } of await collect(cutChunks(blocks, 1, plan))) {
    const results: HeadResult[] = []
    for (let candidate = 0; candidate < candidates; candidate += 1) {
      const lane = openLane(mini, {
        chunk: { channels, sampleRate: SAMPLE_RATE },
        prompt,
        spans: [],
        acceleration: 'fast',
        seed: 0,
        candidate,
        ...request,
      })
      while (lane.stepsDone < lane.steps) mini.step([lane])
      results.push(closeLane(mini, lane))
    }
    const best = results.reduce((a, b) => (b.score > a.score ? b : a))
    parts.push(stitcher.push(startSample, best.target))
  }
  return concatenate([...parts, stitcher.finish()].map(([channel]) => channel!))
}

/** Mean square of `count` samples. */
function power(wave: Float32Array, from: number, count: number): number {
  let sum = 0
  for (let i = from; i < from + count; i += 1) sum += wave[i]! ** 2
  return sum / count
}
