/**
 * How fast is one evaluation of SAM-Audio's transformer, and of PyTorch's? Random weights;
 * repetitions of all cases are interleaved, so that a busy moment hits them alike.
 *
 * npm run bench -- dit-forward --dim 512 --layers 8 --heads 8 --frames 250 --batch 1,2,4,8 \
 * --precision float32,bfloat16 --pytorch <Python with torch 2.13>
 *
 * With --profile it first lists which operations of the native library take the time, step by step:
 * within a graph they cannot be separated.
 */
import { FLAG, readOwnArgv, TEXT } from '../scripts/cli/command.ts'
import { WARM_UP_CALLS } from '../models/graph/graph-cache.ts'
import type { Precision } from '../models/tensorflow/precision.ts'
import type { TransformerConfig } from '../models/sam-audio/config.ts'
import { loadTransformer, type Transformer } from '../models/sam-audio/flow/transformer.ts'
import { tabulateEmbedding, type EmbedTime } from '../models/sam-audio/flow/time-embedding.ts'
import { backendVersion, deviceKind, tf } from '../models/tensorflow/tensor.ts'
import {
  feedForwardDimOf,
  randomWeights,
  transformerShapes,
} from '../test/support/models/random-weights.ts'
import { timeOperations } from './operations.ts'
import { startPyTorch } from './pytorch.ts'
import { quantile, report, round } from './report.ts'

const FEATURES = 256
const TIME_DIM = 256
const PROFILED = 16
/** Evaluations of one case that are profiled, all before it becomes a graph. */
const STEP_BY_STEP = 5

const { values: options } = readOwnArgv({
  dim: { ...TEXT, default: '512' },
  layers: { ...TEXT, default: '8' },
  heads: { ...TEXT, default: '8' },
  frames: { ...TEXT, default: '250' },
  words: { ...TEXT, default: '12' },
  batch: { ...TEXT, default: '1,2,4,8' },
  precision: { ...TEXT, default: 'float32,bfloat16' },
  pytorch: TEXT,
  profile: FLAG,
  repetitions: { ...TEXT, default: '8' },
})
const [dim, layers, heads, frames, words, repetitions] = [
  options.dim,
  options.layers,
  options.heads,
  options.frames,
  options.words,
  options.repetitions,
].map(Number) as [number, number, number, number, number, number]
const batchSizes = options.batch.split(',').map(Number)

const config: TransformerConfig = {
  dim,
  layers,
  heads,
  contextDim: dim,
  timeDim: TIME_DIM,
  positionsMax: 10_000,
  feedForwardDim: feedForwardDimOf(dim),
}
const weights = randomWeights(transformerShapes(config, FEATURES))
const precisions = options.precision.split(',') as Precision[]
const ours = precisions.map((precision) => {
  const transformer = loadTransformer(weights, config, FEATURES, precision)
  return { precision, transformer, embedTime: tabulateEmbedding(transformer.embedTime, [0.3]) }
})
if (options.profile) for (const batch of batchSizes) ours.forEach((each) => profile(each, batch))

interface OurModel {
  precision: Precision
  transformer: Transformer
  embedTime: EmbedTime
}

interface Case {
  name: string
  batch: number
  run: () => number | Promise<number>
  millis: number[]
}

const pytorch = options.pytorch
  ? startPyTorch(options.pytorch, 'dit_forward.py', [dim, layers, heads, frames, words].map(String))
  : null
const cases = batchSizes.flatMap((batch) => [
  ...ours.map((each) => caseOf(`ours ${each.precision}`, batch, () => measure(each, batch))),
  ...(pytorch
    ? ['float32', 'autocast', 'bfloat16'].map((precision) =>
        caseOf(`PyTorch ${precision}`, batch, () => pytorch.measure(`${batch} ${precision}`)),
      )
    : []),
])
for (let repetition = -WARM_UP_CALLS; repetition < repetitions; repetition += 1) {
  for (const each of cases) {
    const taken = await each.run()
    if (repetition >= 0) each.millis.push(taken) // the first rounds warm up
  }
}
pytorch?.stop()
for (const each of cases) print(each)

function caseOf(name: string, batch: number, run: Case['run']): Case {
  return { name, batch, run, millis: [] }
}

/** With how many times as long as ours it took, of the least, and turn by turn: quartiles. */
function print({ name, batch, millis }: Case): void {
  const isNarrow = !name.endsWith('float32')
  const alike = cases.filter((other) => other.batch === batch && other.name.startsWith('ours'))
  const mine = (isNarrow ? alike.at(-1) : alike[0])!.millis
  const ratios = millis.map((taken, turn) => taken / mine[turn]!)
  const gigaflop = (batch * flopOfRow()) / 1e9
  const least = Math.min(...millis)
  report('milliseconds of one evaluation of the transformer', {
    name,
    backend: backendVersion(),
    device: deviceKind(),
    dim,
    layers,
    heads,
    frames,
    words,
    batch,
    n: millis.length,
    least: round(least),
    median: round(quantile(millis, 0.5)),
    gigaflop: round(gigaflop),
    gigaflopPerSecond: round(gigaflop / (least / 1000)),
    timesOurs: round(least / Math.min(...mine)),
    timesOursQuartiles: [0.25, 0.5, 0.75].map((share) => round(quantile(ratios, share))),
  })
}

function measure({ transformer, embedTime }: OurModel, batch: number): number {
  const x = tf.randomNormal([batch, frames, dim])
  const memory = tf.randomNormal([batch, words, dim])
  const startedAt = performance.now()
  const answer = tf.tidy(() => {
    const time = embedTime(Array.from({ length: batch }, () => 0.3))
    return transformer.forward({ x, memory, time, frames: null, textKeys: null })
  })
  answer.dataSync()
  const taken = performance.now() - startedAt
  tf.dispose([x, memory, answer])
  return taken
}

/** Prints the most expensive operations of the native library in one evaluation. */
function profile(each: OurModel, batch: number): void {
  const rounds = Array.from({ length: STEP_BY_STEP }, () =>
    timeOperations(() => measure(each, batch)),
  )
  const leastOf = (name: string) => Math.min(...rounds.map((round) => round.get(name)!.millis))
  const names = [...rounds[0]!.keys()].sort((a, b) => leastOf(b) - leastOf(a))
  report('milliseconds by operation', {
    precision: each.precision,
    batch,
    operations: names
      .slice(0, PROFILED)
      .map((name) => `${name} x ${rounds[0]!.get(name)!.calls}: ${round(leastOf(name))}`),
  })
}

/** Operations in the products of matrices of one row; two to every multiplication. */
function flopOfRow(): number {
  const { feedForwardDim } = config
  const perFrame =
    layers * (6 * dim ** 2 + 3 * dim * feedForwardDim + 2 * (frames + words) * dim) +
    6 * dim ** 2 +
    FEATURES * dim
  const perWord = 3 * dim ** 2 + layers * 2 * dim ** 2
  return 2 * (frames * perFrame + words * perWord)
}
