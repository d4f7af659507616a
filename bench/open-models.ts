/**
 * How fast are the open models compared with the same networks in PyTorch? From samples to samples,
 * at the published sizes with random weights: HTDemucs on segments of 7.8 s in stereo, AudioSep on
 * 10 s in mono without its text encoder, Mel-Band RoFormer (Kim's sizes) on 8 s in stereo, SCNet on
 * 11 s in stereo. All cases of a batch size run in turns.
 *
 *   python3 -m venv FOLDER && FOLDER/bin/pip install -r bench/peers/requirements.txt
 *   FOLDER/bin/python bench/open_models/speed.py check test/fixtures
 *   npm run bench -- open-models --pytorch FOLDER/bin/python --models htdemucs --batch 1,4
 *
 * The second line compares the PyTorch networks with the goldens of the references. With --profile
 * the bench first lists the operations of the native library that take the time, step by step.
 */
import { FLAG, readOwnArgv, TEXT } from '../scripts/cli/command.ts'
import { WARM_UP_CALLS } from '../models/graph/graph-cache.ts'
import type { Precision } from '../models/tensorflow/precision.ts'
import { backendVersion, tf } from '../models/tensorflow/tensor.ts'
import { timeOperations } from './operations.ts'
import { startPyTorch } from './pytorch.ts'
import { FIXTURES } from './random-models.ts'
import { RANDOM_SEPARATORS, type Separator } from './random-separators.ts'
import { quantile, report, round } from './report.ts'

const PROFILED = 16

const { values: options } = readOwnArgv({
  models: { ...TEXT, default: 'htdemucs,audiosep,roformer' },
  batch: { ...TEXT, default: '1,4' },
  precision: { ...TEXT, default: 'float32,bfloat16' },
  repetitions: { ...TEXT, default: '5' },
  pytorch: TEXT,
  profile: FLAG,
})

interface Case {
  name: string
  warmUps: number
  run: () => Taken | Promise<Taken>
  taken: Taken[]
}

/** Milliseconds by the clock, and of all cores' time. */
type Taken = readonly [wall: number, processor: number]

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
  for (const batch of options.batch.split(',').map(Number)) {
    if (options.profile) {
      for (const { precision, separator } of ours) profile(model, precision, separator, batch)
    }
    await compare(model, batch, ours)
  }
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
      taken: [],
    },
    ...(pytorch
      ? [
          {
            name: `PyTorch, ${precision}`,
            warmUps: 1,
            run: async () =>
              (await pytorch.measureAll(`${model} ${batch} ${precision}`)) as [number, number],
            taken: [],
          },
        ]
      : []),
  ])
  for (const each of cases) for (let i = 0; i < each.warmUps; i += 1) await each.run()
  for (let turn = 0; turn < repetitions; turn += 1) {
    for (const each of cases) each.taken.push(await each.run())
  }
  for (const each of cases) print(model, batch, ours[0]!.separator.seconds, each, cases)
}

/** Reports a case, and how many times as long as ours in its precision it took, turn by turn. */
function print(
  model: string,
  batch: number,
  seconds: number,
  { name, taken }: Case,
  cases: readonly Case[],
): void {
  const precision = name.split(', ')[1]
  const own = cases.find((each) => each.name === `ours, ${precision}`)!.taken
  const quartiles = (kind: 0 | 1) => {
    const ratios = taken.map((each, turn) => each[kind] / own[turn]![kind])
    return [0, 0.25, 0.5, 0.75, 1].map((share) => round(quantile(ratios, share)))
  }
  const [wall, processor] = [0, 1].map((kind) => taken.map((each) => each[kind as 0 | 1]))
  report('milliseconds to separate a batch', {
    model,
    name,
    backend: backendVersion(),
    batch,
    seconds,
    n: taken.length,
    least: round(Math.min(...wall!)),
    median: round(quantile(wall!, 0.5)),
    processorLeast: round(Math.min(...processor!)),
    processorMedian: round(quantile(processor!, 0.5)),
    realTime: round(quantile(wall!, 0.5) / 1000 / (batch * seconds)),
    timesOurs: quartiles(0),
    timesOurProcessorTime: quartiles(1),
  })
}

function measure({ inputs, separate }: Separator, batch: number): Taken {
  const given = inputs(batch)
  const [startedAt, usedBefore] = [performance.now(), process.cpuUsage()]
  const answer = separate(...given)
  answer.dataSync()
  const taken = performance.now() - startedAt
  const { user, system } = process.cpuUsage(usedBefore)
  tf.dispose([...given, answer])
  return [taken, (user + system) / 1000]
}

function profile(model: string, precision: Precision, separator: Separator, batch: number): void {
  const found = timeOperations(() => measure(separator, batch))
  const names = [...found.keys()].sort((a, b) => found.get(b)!.millis - found.get(a)!.millis)
  report('milliseconds by operation', {
    model,
    precision,
    batch,
    operations: names
      .slice(0, PROFILED)
      .map((name) => `${name} x ${found.get(name)!.calls}: ${round(found.get(name)!.millis)}`),
  })
}
