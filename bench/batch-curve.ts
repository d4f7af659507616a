/**
 * How much throughput does batching gain? Audio-seconds separated per second by batch size, for the
 * built-in model. Repetitions of all sizes are interleaved, so that other load affects them alike.
 *
 * node --import tsx bench/batch-curve.ts
 */
import { fileURLToPath } from 'node:url'
import { WARM_UP_CALLS } from '../models/graph/graph-cache.ts'
import { openLane, closeLane, type LaneRequest, type Model } from '../models/model.ts'
import { loadMini } from '../models/mini/mini.ts'
import { backendVersion, deviceKind } from '../models/tensorflow/tensor.ts'
import { quantile, report, round } from './report.ts'

const CHUNK_SECONDS = [4, 10]
const BATCH_SIZES = [1, 2, 4, 8]
const REPETITIONS = 7
const SAMPLE_RATE = 44_100

const textEncoderFolder = fileURLToPath(new URL('../.runtime/text-encoder', import.meta.url))
const mini = await loadMini({ textEncoderFolder })

for (const chunkSeconds of CHUNK_SECONDS) {
  const speeds = new Map(BATCH_SIZES.map((size) => [size, [] as number[]]))
  for (let repetition = -WARM_UP_CALLS; repetition < REPETITIONS; repetition += 1) {
    for (const size of BATCH_SIZES) {
      const speed = measure(mini, size, chunkSeconds)
      if (repetition >= 0) speeds.get(size)!.push(speed) // the first rounds warm up
    }
  }
  for (const [batchSize, values] of speeds) {
    report('audio-seconds per second by batch size', {
      backend: backendVersion(),
      device: deviceKind(),
      chunkSeconds,
      batchSize,
      n: values.length,
      median: round(quantile(values, 0.5)),
      least: round(Math.min(...values)),
      most: round(Math.max(...values)),
    })
  }
}

/** Audio-seconds per second of one batch, from opening its lanes to their results. */
function measure(model: Model, size: number, chunkSeconds: number): number {
  const requests = Array.from({ length: size }, () => noiseRequest(chunkSeconds))
  const startedAt = performance.now()
  const lanes = requests.map((request) => openLane(model, request))
  model.step(lanes)
  for (const lane of lanes) closeLane(model, lane)
  return (size * chunkSeconds) / ((performance.now() - startedAt) / 1000)
}

function noiseRequest(seconds: number): LaneRequest {
  const length = seconds * SAMPLE_RATE
  const samples = Float32Array.from({ length }, () => 0.2 * (Math.random() - 0.5))
  const chunk = { channels: [samples], sampleRate: SAMPLE_RATE }
  return { chunk, prompt: 'rain', spans: [], acceleration: 'fast', seed: 0 }
}
