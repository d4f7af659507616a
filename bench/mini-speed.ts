/**
 * How fast is the built-in model, in either precision, compared with the PyTorch network that it
 * was ported from? From samples to samples, transforms and all, without the text encoder; in turns,
 * in one run.
 *
 *   npm run bench -- mini-speed --pytorch <a Python in which models/training is installed>
 */
import { fileURLToPath } from 'node:url'
import { readOwnArgv, TEXT } from '../scripts/cli/command.ts'
import { WARM_UP_CALLS } from '../models/graph/graph-cache.ts'
import { loadMini } from '../models/mini/mini.ts'
import { openLane, closeLane, type Model } from '../models/model.ts'
import { PRECISIONS } from '../models/tensorflow/precision.ts'
import { noise } from '../test/support/media/signals.ts'
import { startPyTorch } from './pytorch.ts'
import { quantile, report, round } from './report.ts'

const SECONDS = 10
const SAMPLE_RATE = 32_000
const REPETITIONS = 12

const { values: options } = readOwnArgv({ pytorch: TEXT })
const python = options.pytorch
if (!python) throw new Error('--pytorch must name a Python that has PyTorch')
const path = (name: string) => fileURLToPath(new URL(`../${name}`, import.meta.url))
const textEncoderFolder = path('.runtime/text-encoder')
const ours = {
  float32: await loadMini({ textEncoderFolder }),
  bfloat16: await loadMini({ textEncoderFolder, precision: 'bfloat16' }),
}
const script = '../models/training/winnow_training/commands/speed.py'
const torch = startPyTorch(python, script, [path('models/mini/weights')])

for (const batch of [1, 4, 8]) {
  const taken = new Map<string, number[]>()
  const note = (name: string, turn: number, millis: number) => {
    if (turn >= 0) taken.set(name, [...(taken.get(name) ?? []), millis])
  }
  for (let turn = -WARM_UP_CALLS; turn < REPETITIONS; turn += 1) {
    for (const precision of PRECISIONS) {
      note(`ours, ${precision}`, turn, separate(ours[precision], batch))
    }
    for (const precision of PRECISIONS) {
      const millis = await torch.measure(`${batch} ${SECONDS} ${precision}`)
      note(`PyTorch, ${precision}`, turn, millis)
    }
  }
  const baseline = taken.get('ours, float32')!
  for (const [name, each] of taken) {
    const ratios = each.map((millis, i) => millis / baseline[i]!)
    report('milliseconds to separate a batch', {
      name,
      batch,
      seconds: SECONDS,
      n: each.length,
      least: round(Math.min(...each)),
      median: round(quantile(each, 0.5)),
      timesFloat32: [0.25, 0.5, 0.75].map((share) => round(quantile(ratios, share))),
    })
  }
}
torch.stop()

function separate(mini: Model, batch: number): number {
  const plain = { prompt: 'rain', spans: [], acceleration: 'fast', seed: 0 } as const
  const lanes = Array.from({ length: batch }, (_, i) => {
    const channels = [noise(SECONDS, SAMPLE_RATE, i + 1)] // lanes with the same mixture share it
    return openLane(mini, { ...plain, chunk: { channels, sampleRate: SAMPLE_RATE } })
  })
  const startedAt = performance.now()
  mini.step(lanes)
  for (const lane of lanes) closeLane(mini, lane)
  return performance.now() - startedAt
}
