/**
 * Which chunk length and overlap serve the built-in model best? Minutes of two sources that come
 * and go, at equal power, cut and joined as an engine does it.
 *
 *   node --import tsx bench/mini-chunk-length.ts <folder of ESC-10 by class>
 */
import { fileURLToPath } from 'node:url'
import { chunkCount, planChunks, Stitcher, type ChunkPlan } from '../engine/job/chunks.ts'
import { cutChunks } from '../test/support/engine/cut-chunks.ts'
import { openLane, closeLane, type Acceleration, type Model } from '../models/model.ts'
import { loadMini } from '../models/mini/mini.ts'
import { concatenate } from '../test/support/media/signals.ts'
import {
  collect,
  loadMixtures,
  mean,
  MIXTURE_SECONDS,
  SAMPLE_RATE,
  siSdr,
} from './esc10-minutes.ts'
import { quantile, report, round } from './report.ts'

const BATCH_SIZE = 8
const CHUNK_SECONDS = [5, 10, 20, 30]
const OVERLAP_SECONDS = [1, 2, 5]

const folder = process.argv[2]
if (!folder) throw new Error('usage: mini-chunk-length.ts <folder of ESC-10 by class>')
const textEncoderFolder = fileURLToPath(new URL('../.runtime/text-encoder', import.meta.url))
const mini = await loadMini({ textEncoderFolder })
const mixtures = await loadMixtures(folder)

const whole = await improvements({ chunkSeconds: MIXTURE_SECONDS, overlapSeconds: 0 })
for (const chunkSeconds of CHUNK_SECONDS) {
  for (const overlapSeconds of OVERLAP_SECONDS) {
    if (overlapSeconds <= chunkSeconds / 2) await improvements({ chunkSeconds, overlapSeconds })
  }
}
await improvements({ chunkSeconds: 10, overlapSeconds: 1, acceleration: 'quality' })

interface Setting {
  chunkSeconds: number
  overlapSeconds: number
  acceleration?: Acceleration
}

/** Reports and returns the improvement of each mixture in decibels. */
async function improvements(setting: Setting): Promise<number[]> {
  const { chunkSeconds, overlapSeconds, acceleration = 'fast' } = setting
  const plan = planChunks({
    sampleRate: SAMPLE_RATE,
    channels: 1,
    chunkSecondsMax: chunkSeconds,
    overlapSeconds,
    modelChunkSecondsMax: chunkSeconds,
    modelOverlapSecondsMax: overlapSeconds,
    frameSamples: mini.description.frameSamples,
  })
  const values: number[] = []
  const startedAt = performance.now()
  for (const { prompt, target, mixture } of mixtures) {
    const estimate = await separate(mini, { prompt, mixture, plan, acceleration })
    values.push(siSdr(estimate, target) - siSdr(mixture, target))
  }
  const seconds = (performance.now() - startedAt) / 1000
  report('separation and speed by chunk length and overlap', {
    chunkSeconds,
    overlapSeconds,
    acceleration,
    n: values.length,
    siSdrImprovementMean: round(mean(values)),
    siSdrImprovementMedian: round(quantile(values, 0.5)),
    realTimeFactor: round(seconds / (MIXTURE_SECONDS * mixtures.length)),
    ...(chunkSeconds < MIXTURE_SECONDS && comparison(values, whole)),
  })
  return values
}

/** The cut's gain over the whole minute in one chunk, mixture by mixture. */
function comparison(values: readonly number[], reference: readonly number[]) {
  const gains = values.map((value, i) => value - reference[i]!)
  const variance = mean(gains.map((gain) => (gain - mean(gains)) ** 2))
  const standardError = Math.sqrt(variance / (gains.length - 1))
  return { gainOverWhole: round(mean(gains)), gainStandardError: round(standardError) }
}

interface CutCase {
  prompt: string
  mixture: Float32Array
  plan: ChunkPlan
  acceleration: Acceleration
}

/** The target of the whole mixture, its chunks in batches. */
async function separate(model: Model, { prompt, mixture, plan, acceleration }: CutCase) {
  const blocks = (async function* () {
    yield [mixture]
  })()
  const chunks = await collect(cutChunks(blocks, 1, plan))
  const stitcher = new Stitcher(plan)
  const parts: Float32Array[][] = []
  for (let first = 0; first < chunkCount(mixture.length, plan); first += BATCH_SIZE) {
    const batch = chunks.slice(first, first + BATCH_SIZE)
    const lanes = batch.map(({ channels }) =>
      openLane(model, {
        chunk: { channels, sampleRate: SAMPLE_RATE },
        prompt,
        spans: [],
        acceleration,
        seed: 0,
      }),
    )
    for (let step = 0; step < lanes[0]!.steps; step += 1) model.step(lanes)
    for (const [i, lane] of lanes.entries()) {
      parts.push(stitcher.push(batch[i]!.startSample, closeLane(model, lane).target))
    }
  }
  return concatenate([...parts, stitcher.finish()].map(([channel]) => channel!))
}
