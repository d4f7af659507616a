/** The built-in model by batch and precision: one step of chunks of a second and more. */
import { fileURLToPath } from 'node:url'
import { WARM_UP_CALLS } from '../../../../models/graph/compiled.ts'
import { loadMini } from '../../../../models/mini/mini.ts'
import { openLane, closeLane, type Model } from '../../../../models/model.ts'
import { PRECISIONS } from '../../../../models/precision.ts'
import { noise } from '../../../../test/harness/lanes.ts'
import { least, timed } from '../measure.ts'
import type { Options, Row, Run } from '../options.ts'

const TEXT_ENCODER = fileURLToPath(new URL('../../../../.runtime/text-encoder', import.meta.url))
const RATE = 44_100

export const miniPart: Run = async (options, hasTime) => {
  const rows: Row[] = []
  for (const precision of PRECISIONS) {
    if (!hasTime()) break
    const model = await loadMini({ textEncoderFolder: TEXT_ENCODER, precision })
    rows.push(...rowsOf(model, options, hasTime))
  }
  return { rows }
}

function rowsOf(model: Model, { batches, seconds }: Options, hasTime: () => boolean): Row[] {
  const rows: Row[] = []
  for (const batch of batches) {
    if (!hasTime()) break
    const chunks = Array.from({ length: batch }, (_, i) => noise(seconds * RATE, i + 1))
    const separate = () => {
      const lanes = chunks.map((samples) =>
        openLane(model, {
          chunk: { channels: [samples], sampleRate: RATE },
          prompt: 'rain',
          spans: [],
          acceleration: 'fast',
          seed: 0,
        }),
      )
      model.step(lanes)
      for (const lane of lanes) closeLane(model, lane)
    }
    const single = timed(separate, WARM_UP_CALLS, hasTime)
    const graph = timed(separate, 5, hasTime)
    rows.push({
      precision: model.description.precision,
      batch,
      seconds,
      'first call, ms': single.millis[0]!,
      'single operations, ms': least(single.millis),
      'graph, ms': least(graph.millis),
      'audio-seconds a second': (1_000 * batch * seconds) / least(graph.millis),
      'peak MiB': single.peakMib,
    })
  }
  return rows
}
