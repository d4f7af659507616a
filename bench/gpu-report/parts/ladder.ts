/**
 * Measures a step of the ladder from plain operations to graphs that XLA compiles: how long a batch
 * takes, and how far its result is from computing operation by operation in the same process.
 */
import { compiler } from '../../../models/graph/compiled.ts'
import { WARM_UP_CALLS } from '../../../models/graph/graph-cache.ts'
import { usesXla } from '../../../models/graph/xla.ts'
import { PRECISIONS, type Precision } from '../../../models/tensorflow/precision.ts'
import { tf } from '../../../models/tensorflow/tensor.ts'
import { RANDOM_SEPARATORS } from '../random-separators.ts'
import { farthestFrom, type LadderRow, type LadderStep } from '../ladder.ts'
import { timeRuns, least } from '../measure.ts'
import type { Options, Run } from '../options.ts'
import { loadMiniIn, separatorOf } from './mini.ts'
import { loadTransformerOf } from './transformer.ts'

const BATCHES = [1, 8, 16, 32]
const RUNS = 5

/** Computes the same batch on every call. */
type Work = () => Float32Array

export const ladderPart = (step: LadderStep): Run =>
  async function* (options, hasTime) {
    for (const precision of PRECISIONS) {
      for (const model of modelsOf(options)) {
        if (!hasTime()) return
        const load = await loadModel(model, precision, options)
        // float32 serves to compare results, bfloat16 to compare times.
        for (const batch of precision === 'float32' ? [1] : BATCHES) {
          if (!hasTime()) return
          if (batch === 1 || options.batches.includes(batch)) {
            const rows = await measureStep(load(batch), step, hasTime)
            for (const row of rows) yield { model, precision, batch, ...row }
          }
        }
      }
    }
  }

/** All models, with SAM-Audio's base size; on a CPU only the tiny size of the tests. */
const modelsOf = ({ sizes }: Options): string[] =>
  sizes.includes('tiny') ? ['tiny'] : ['mini', 'htdemucs', 'audiosep', 'base']

async function loadModel(
  model: string,
  precision: Precision,
  { seconds }: Options,
): Promise<(batch: number) => Work> {
  if (model === 'mini') {
    const mini = await loadMiniIn(precision)
    return (batch) => separatorOf(mini, batch, seconds)
  }
  const separator = RANDOM_SEPARATORS[model]?.(precision)
  if (!separator) {
    const evaluate = await loadTransformerOf(model, precision, seconds)
    return (batch) => () => evaluate(batch)
  }
  return (batch) => {
    const inputs = separator.inputs(batch)
    return () => {
      const output = tf.tidy(() => separator.separate(...inputs))
      const values = output.dataSync<'float32'>()
      output.dispose()
      return values
    }
  }
}

type StepResult = Pick<LadderRow, 'step' | 'ms' | 'farthest from plain'>

async function measureStep(
  work: Work,
  step: LadderStep,
  hasTime: () => boolean,
): Promise<StepResult[]> {
  const startedAt = performance.now()
  const expected = work()
  const plainMs = performance.now() - startedAt
  await prepare(work)
  const farthest = farthestFrom(work(), expected)
  const { millis } = timeRuns(work, RUNS, hasTime)
  const row = { step, ms: least(millis), 'farthest from plain': farthest }
  if (step !== 'graph') return [row]
  return [{ step: 'plain', ms: plainMs, 'farthest from plain': 0 }, row]
}

/** Calls `work` until the graph exists and XLA has compiled all of it. */
async function prepare(work: Work): Promise<void> {
  let isCompiling = false
  for (let call = 1; call < WARM_UP_CALLS || isCompiling; call += 1) {
    work()
    isCompiling = usesXla() && compiler.compiling !== null
    await compiler.compiling
  }
}
