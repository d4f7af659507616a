/** Times the built-in model by batch and precision: one step of chunks of noise. */
import { fileURLToPath } from 'node:url'
import { loadMini } from '../../../models/mini/mini.ts'
import { openLane, closeLane, type Model } from '../../../models/model.ts'
import { prepareChunk } from '../../../models/prepare-chunk.ts'
import { PRECISIONS, type Precision } from '../../../models/tensorflow/precision.ts'
import { noise } from '../../../test/support/models/lanes.ts'
import { speedOf } from '../measure.ts'
import type { Options, Run } from '../options.ts'

const TEXT_ENCODER = fileURLToPath(new URL('../../../.runtime/text-encoder', import.meta.url))
const RATE = 44_100

export const miniPart: Run = async function* (options, hasTime) {
  for (const precision of PRECISIONS) {
    if (!hasTime()) break
    yield* rowsOf(await loadMiniIn(precision), options, hasTime)
  }
}

export const loadMiniIn = (precision: Precision): Promise<Model> =>
  loadMini({ textEncoderFolder: TEXT_ENCODER, precision })

/** Returns a function that separates a batch of chunks and returns the target of the last one. */
export function separatorOf(model: Model, batch: number, seconds: number): () => Float32Array {
  const chunks = Array.from({ length: batch }, (_, i) => preparedNoise(seconds, i + 1))
  return () => {
    const lanes = chunks.map((chunk) =>
      openLane(model, { chunk, prompt: 'rain', spans: [], acceleration: 'fast', seed: 0 }),
    )
    model.step(lanes)
    return lanes.map((lane) => closeLane(model, lane)).at(-1)!.target[0]!
  }
}

function* rowsOf(model: Model, { batches, seconds }: Options, hasTime: () => boolean) {
  for (const batch of batches) {
    if (!hasTime()) break
    const { best, cells } = speedOf(separatorOf(model, batch, seconds), hasTime)
    yield {
      precision: model.description.precision,
      batch,
      seconds,
      ...cells,
      'audio-seconds a second': (1_000 * batch * seconds) / best,
    }
  }
}

/** Prepared before anything is timed, because an engine prepares chunks on other threads. */
const preparedNoise = (seconds: number, seed: number) =>
  prepareChunk('mini', { channels: [noise(seconds * RATE, seed)], sampleRate: RATE })
