/** Finds the operations of the native library that the models run, with their types. */
import type { Attribute, Binding } from '../../../models/tensorflow/binding.ts'
import { GRAPH_NAME } from '../../../models/graph/recorder.ts'
import { loadMini } from '../../../models/mini/mini.ts'
import { openLane, closeLane, type Model } from '../../../models/model.ts'
import { PRECISIONS } from '../../../models/tensorflow/precision.ts'
import { loadSamAudio } from '../../../models/sam-audio/sam-audio.ts'
import { native } from '../../../models/tensorflow/tensor.ts'
import { TEXT_ENCODER_FOLDER } from './golden.ts'
import { noise } from './lanes.ts'
import { FIXTURES } from './tiny-sam-audio.ts'

/** An operation and its type attributes by name, as numbers of TensorFlow's DataType. */
export interface UsedOperation {
  name: string
  types: Record<string, number>
}

/** Runs mini and all parts of SAM-Audio in every precision: opening, steps and closing. */
export async function profiledOperations(): Promise<UsedOperation[]> {
  const used = new Map<string, UsedOperation>()
  await recording(used, async () => {
    for (const precision of PRECISIONS) {
      separateAll(await loadMini({ textEncoderFolder: TEXT_ENCODER_FOLDER, precision }))
      separateAll(await loadSamAudio(FIXTURES, precision))
    }
  })
  return [...used.values()]
}

/**
 * Separates two lanes of different lengths and prompts, first with given spans, then with predicted
 * ones.
 */
function separateAll(model: Model): void {
  const { frameSamples: hop, sampleRate } = model.description
  for (const predictSpans of [false, true]) {
    const lanes = [40, 23].map((frames, seed) => {
      const samples = noise(frames * Math.max(hop, 1_000), seed)
      const channels = [samples, samples.map((x) => -x)]
      return openLane(model, {
        chunk: { channels, sampleRate: sampleRate ?? 44_100 },
        prompt: seed === 0 ? 'rain' : 'a dog barking far away',
        spans: predictSpans ? [] : [{ start: 0, end: 0.1, include: true }],
        acceleration: 'fast',
        seed,
        candidates: 2, // so that the judge runs
        predictSpans,
      })
    })
    const busy = () => lanes.filter((lane) => lane.stepsDone < lane.steps)
    while (busy().length > 0) model.step(busy())
    for (const lane of lanes) closeLane(model, lane)
  }
}

async function recording(
  used: Map<string, UsedOperation>,
  work: () => Promise<void>,
): Promise<void> {
  const { binding } = native
  const executeOp: Binding['executeOp'] = (name, attributes, ids, outputs) => {
    const answer = binding.executeOp(name, attributes, ids, outputs)
    if (!name.startsWith(GRAPH_NAME)) {
      const given = typesOf(attributes)
      const types = Object.keys(given).length > 0 ? given : { T: answer[0]!.dtype }
      used.set(`${name} ${JSON.stringify(types)}`, { name, types })
    }
    return answer
  }
  native.binding = Object.create(binding, { executeOp: { value: executeOp } })
  try {
    await work()
  } finally {
    native.binding = binding
  }
}

const typesOf = (attributes: readonly Attribute[]): Record<string, number> =>
  Object.fromEntries(
    attributes
      .filter(({ type }) => type === native.binding.TF_ATTR_TYPE)
      .map(({ name, value }) => [name, value as number])
      .sort(([a], [b]) => (String(a) < String(b) ? -1 : 1)),
  )
