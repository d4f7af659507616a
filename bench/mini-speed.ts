/**
 * How fast is the built-in model beside the PyTorch network that it was ported from? From samples
 * to samples, transforms and all, without the text encoder; both in turns, in one run.
 *
 *   npm run bench -- mini-speed --pytorch <a Python in which models/mini/training is installed>
 */
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { WARM_UP_CALLS } from '../models/graph/compiled.ts'
import { loadMini } from '../models/mini/mini.ts'
import { noise } from '../test/support/signals.ts'
import { startPyTorch } from './pytorch.ts'
import { quantile, report, round } from './report.ts'

const SECONDS = 10
const SAMPLE_RATE = 32_000
const REPETITIONS = 12

const { values: options } = parseArgs({ options: { pytorch: { type: 'string' } } })
const python = options.pytorch
if (!python) throw new Error('--pytorch must name a Python that has PyTorch')
const path = (name: string) => fileURLToPath(new URL(`../${name}`, import.meta.url))
const mini = await loadMini({ textEncoderFolder: path('.runtime/text-encoder') })
const script = '../models/mini/training/winnow_training/commands/speed.py'
const torch = startPyTorch(python, script, [path('models/mini/weights')])

for (const batch of [1, 4, 8]) {
  const ours: number[] = []
  const theirs = { float32: [] as number[], bfloat16: [] as number[] }
  for (let turn = -WARM_UP_CALLS; turn < REPETITIONS; turn += 1) {
    const mine = separate(batch)
    if (turn >= 0) ours.push(mine)
    for (const [precision, taken] of Object.entries(theirs)) {
      const millis = await torch.measure(`${batch} ${SECONDS} ${precision}`)
      if (turn >= 0) taken.push(millis)
    }
  }
  for (const [name, taken] of [
    ['ours, float32', ours],
    ...Object.entries(theirs).map(([name, taken]) => [`PyTorch ${name}`, taken] as const),
  ] as const) {
    const ratios = taken.map((millis, i) => millis / ours[i]!)
    report('milliseconds to separate a batch', {
      name,
      batch,
      seconds: SECONDS,
      n: taken.length,
      least: round(Math.min(...taken)),
      median: round(quantile(taken, 0.5)),
      timesOurs: [0.25, 0.5, 0.75].map((share) => round(quantile(ratios, share))),
    })
  }
}
torch.stop()

function separate(batch: number): number {
  const plain = { prompt: 'rain', spans: [], acceleration: 'fast', seed: 0 } as const
  const lanes = Array.from({ length: batch }, (_, i) => {
    const channels = [noise(SECONDS, SAMPLE_RATE, i + 1)] // lanes with the same mixture share it
    return mini.open({ ...plain, chunk: { channels, sampleRate: SAMPLE_RATE } })
  })
  const startedAt = performance.now()
  mini.step(lanes)
  for (const lane of lanes) mini.close(lane)
  return performance.now() - startedAt
}
