/** Compares the memory of whole separations with its prediction. */
import { fileURLToPath } from 'node:url'
import { loadMini } from '../../../models/mini/mini.ts'
import { bytesFor, predictMemory, runLanes } from '../../../models/memory/predict.ts'
import type { Model } from '../../../models/model.ts'
import { loadSamAudio } from '../../../models/sam-audio/sam-audio.ts'
import { native } from '../../../models/tensorflow/tensor.ts'
import { mebibytes } from '../measure.ts'
import type { Run } from '../options.ts'

const path = (name: string) => fileURLToPath(new URL(`../../../${name}`, import.meta.url))

const MODELS: Readonly<Record<string, () => Promise<Model>>> = {
  mini: () => loadMini({ textEncoderFolder: path('.runtime/text-encoder') }),
  'SAM-Audio, tiny': () => loadSamAudio(path('test/fixtures/sam-audio')),
}

export const memoryPart: Run = async function* ({ batches, seconds }, hasTime) {
  for (const [name, load] of Object.entries(MODELS)) {
    const prediction = await predictMemory(load, seconds)
    const before = inUse()
    const model = await load()
    runLanes(model, { lanes: 1, seconds: 1 }, () => {})
    const weights = inUse()
    for (const lanes of batches) {
      if (!hasTime()) break
      let peak = 0
      runLanes(model, { lanes, seconds }, () => {
        peak = Math.max(peak, native.binding.memoryStats()?.peak ?? 0)
      })
      yield {
        model: name,
        lanes,
        seconds,
        'weights, MiB': mebibytes(weights - before),
        'predicted weights': mebibytes(prediction.weightsBytes),
        'work, MiB': mebibytes(peak - weights),
        'predicted work': mebibytes(bytesFor(lanes, prediction)),
      }
    }
  }
  const { limit = 0 } = native.binding.memoryStats() ?? {}
  yield `The allocator may give out ${mebibytes(limit)} MiB.`
}

/** Returns the bytes in use, and restarts the peak. */
function inUse(): number {
  native.binding.memoryStats()
  return native.binding.memoryStats()?.inUse ?? 0
}
