/**
 * Question: how fast are the open models compared with the same networks in PyTorch? Measured from
 * samples to samples, at the published sizes with random weights: HTDemucs on segments of 7.8 s in
 * stereo, AudioSep on 10 s in mono without its text encoder, Mel-Band RoFormer (Kim's sizes) on 8 s
 * in stereo, SCNet on 11 s in stereo. All cases of a batch size run in turns.
 *
 *   python3 -m venv FOLDER && FOLDER/bin/pip install -r bench/open_models/requirements.txt
 *   FOLDER/bin/python bench/open_models/speed.py check test/fixtures
 *   npm run bench -- open-models --pytorch FOLDER/bin/python --models htdemucs --batch 1,4
 *
 * The second line compares the PyTorch networks with the goldens of the references.
 */
import { readOwnArgv, TEXT } from '../scripts/cli/command.ts'
import { WARM_UP_CALLS } from '../models/graph/graph-cache.ts'
import type { Precision } from '../models/tensorflow/precision.ts'
import { backendVersion, tf } from '../models/tensorflow/tensor.ts'
import { startPyTorch } from './pytorch.ts'
import { FIXTURES, RANDOM_SEPARATORS, type Separator } from './random-separators.ts'
import { quantile, report, round } from './report.ts'

const { values: options } = readOwnArgv({
  models: { ...TEXT, default: 'htdemucs,audiosep,roformer' },
  batch: { ...TEXT, default: '1,4' },
  precision: { ...TEXT, default: 'float32,bfloat16' },
  repetitions: { ...TEXT, default: '5' },
  pytorch: TEXT,
})

interface Case {
  name: string
  warmUps: number
  run: () => Times | Promise<Times>
  times: Times[]
}

/** Milliseconds of wall time, and of processor time on all cores. */
type Times = readonly [wall: number, processor: number]

const precisions = options.precision.split(',') as Precision[]
const repetitions = Number(options.repetitions)
const pytorch = options.pytorch
  ? startPyTorch(options.pytorch, 'open_models/speed.py', ['time', FIXTURES])
  : null
for (const model of options.models.split(',')) {
  const load = RANDOM_SEPARATORS[model]
  if (!load)
    throw new Error(`--models names ${Object.keys(RANDOM_SEPARATORS).join(', ')}, not ${model}`)
  const ours = precisions.map((precision) => ({ precision, separator: load(precision) }))
  for (const batch of options.batch.split(',').map(Number)) await compare(model, batch, ours)
}
pytorch?.stop()

async function compare(
  model: string,
  batch: number,
  ours: readonly { precision: Precision; separator: Separator }[],
): Promise<void> {
  const cases: Case[] = ours.flatMap(({ precision, separator }) => [
    {
      name: `ours, ${precision}`,
      warmUps: WARM_UP_CALLS,
      run: () => measure(separator, batch),
      times: [],
    },
    ...(pytorch
      ? [
          {
            name: `PyTorch, ${precision}`,
            warmUps: 1,
            run: async () =>
              (await pytorch.measureAll(`${model} ${batch} ${precision}`)) as [number, number],
            times: [],
          },
        ]
      : []),
  ])
  for (const { warmUps, run } of cases) for (let i = 0; i < warmUps; i += 1) await run()
  for (let turn = 0; turn < repetitions; turn += 1) {
    for (const { times, run } of cases) times.push(await run())
  }
  for (const timed of cases) print(model, batch, ours[0]!.separator.seconds, timed, cases)
}

/** Reports a case, and its ratio to ours in the same precision, turn by turn. */
function print(
  model: string,
  batch: number,
  seconds: number,
  { name, times }: Case,
  cases: readonly Case[],
): void {
  const precision = name.split(', ')[1]
  const ourTimes = cases.find((other) => other.name === `ours, ${precision}`)!.times
  const quartiles = (kind: 0 | 1) => {
    const ratios = times.map((pair, turn) => pair[kind] / ourTimes[turn]![kind])
    return [0, 0.25, 0.5, 0.75, 1].map((share) => round(quantile(ratios, share)))
  }
  const [wall, processor] = [0, 1].map((kind) => times.map((pair) => pair[kind as 0 | 1]))
  report('milliseconds to separate a batch', {
    model,
    name,
    backend: backendVersion(),
    batch,
    seconds,
    n: times.length,
    least: round(Math.min(...wall!)),
    median: round(quantile(wall!, 0.5)),
    processorLeast: round(Math.min(...processor!)),
    processorMedian: round(quantile(processor!, 0.5)),
    realTime: round(quantile(wall!, 0.5) / 1000 / (batch * seconds)),
    timesOurs: quartiles(0),
    timesOurProcessorTime: quartiles(1),
  })
}

function measure({ inputs, separate }: Separator, batch: number): Times {
  const tensors = inputs(batch)
  const [startedAt, usedBefore] = [performance.now(), process.cpuUsage()]
  const answer = separate(...tensors)
  answer.dataSync()
  const wall = performance.now() - startedAt
  const { user, system } = process.cpuUsage(usedBefore)
  tf.dispose([...tensors, answer])
  return [wall, (user + system) / 1000]
}
