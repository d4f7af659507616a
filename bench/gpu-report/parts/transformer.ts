/**
 * Times one evaluation of SAM-Audio's transformer by size, precision and batch, compared with
 * PyTorch's.
 */
import { fileURLToPath } from 'node:url'
import { withShapeBinding } from '../../../models/memory/shape-binding.ts'
import type { Precision } from '../../../models/tensorflow/precision.ts'
import { readConfig, type TransformerConfig } from '../../../models/sam-audio/config.ts'
import { loadTransformer, type Transformer } from '../../../models/sam-audio/flow/transformer.ts'
import { native, tf } from '../../../models/tensorflow/tensor.ts'
import { startMeasuring, type MeasuringProcess } from '../../measuring-process.ts'
import { publishedSizes, type PublishedSize } from '../../../test/support/models/published.ts'
import { randomWeights, transformerShapes } from '../../../test/support/models/random-weights.ts'
import { least, mebibytes, speedOf } from '../measure.ts'
import type { Options, Run, Row } from '../options.ts'

const TINY = fileURLToPath(
  new URL('../../../test/fixtures/sam-audio/sam-audio-tiny/config.json', import.meta.url),
)
const FRAMES_PER_SECOND = 25
const FEATURES = 256
const WORDS = 12
const PRECISIONS: readonly Precision[] = ['bfloat16', 'float32']

export const transformerPart: Run = async function* (options, hasTime) {
  const skipped: string[] = []
  for (const size of options.sizes) {
    const config = await configOf(size)
    const pytorch = options.pytorch ? startPyTorch(options, config) : null
    for (const precision of PRECISIONS) {
      if (hasTime()) yield* measured({ size, config, precision }, options, pytorch, hasTime)
      else skipped.push(`${size} in ${precision}`)
    }
    pytorch?.stop()
  }
  if (skipped.length > 0) yield `Not measured, for want of time: ${skipped.join(', ')}.`
}

interface Case {
  size: string
  config: TransformerConfig
  precision: Precision
}

const configOf = async (size: string): Promise<TransformerConfig> =>
  size === 'tiny'
    ? (await readConfig(TINY)).transformer
    : publishedSizes(size as PublishedSize).transformer

/** Keeps waiting threads from spinning, which slows others down on a busy machine. */
const ENVIRONMENT = ['GOMP_SPINCOUNT=20000', 'OMP_WAIT_POLICY=passive']

/**
 * Starts `transformer.py`, the same network in PyTorch, which answers each line with milliseconds.
 */
function startPyTorch(
  { pytorch, seconds }: Options,
  { dim, layers, heads }: TransformerConfig,
): MeasuringProcess {
  const program = fileURLToPath(new URL('transformer.py', import.meta.url))
  const sizes = [dim, layers, heads, framesOf(seconds), WORDS].map(String)
  return startMeasuring('env', [...ENVIRONMENT, pytorch, '-W', 'ignore', program, ...sizes])
}

/** Returns PyTorch's least milliseconds; its first run of a shape prepares the next ones. */
async function leastOf(pytorch: MeasuringProcess, line: string): Promise<number> {
  const millis: number[] = []
  for (let i = 0; i < 3; i += 1) millis.push(...(await pytorch.measure(line)))
  return least(millis)
}

const framesOf = (seconds: number): number => Math.ceil(FRAMES_PER_SECOND * seconds)

async function* measured(
  { size, config, precision }: Case,
  { batches, seconds }: Options,
  pytorch: MeasuringProcess | null,
  hasTime: () => boolean,
): AsyncGenerator<Row> {
  const load = () =>
    loadTransformer(randomWeights(transformerShapes(config, FEATURES)), config, FEATURES, precision)
  const predicted = await withShapeBinding(async (memory) => {
    const transformer = load()
    return batches.map((batch) => {
      const before = memory.inUse
      memory.takePeak()
      evaluate(transformer, config, batch, framesOf(seconds))
      return memory.takePeak() - before
    })
  })
  const startedAt = performance.now()
  const transformer = load()
  const loadSeconds = (performance.now() - startedAt) / 1_000
  for (const [i, batch] of batches.entries()) {
    if (!hasTime()) break
    const run = () => evaluate(transformer, config, batch, framesOf(seconds))
    const { best, cells } = speedOf(run, hasTime)
    yield {
      size,
      precision,
      batch,
      frames: framesOf(seconds),
      'load, s': loadSeconds,
      ...cells,
      'PyTorch, ms': pytorch && (await leastOf(pytorch, `${batch} ${precision}`)),
      'TFLOP a second': (batch * flopOf(config, framesOf(seconds))) / best / 1e9,
      'predicted MiB': mebibytes(predicted[i]!),
    }
  }
}

/**
 * Evaluates the same rows on every call. Weights are not disposed of, because the process ends
 * after its part.
 */
function evaluate(
  transformer: Transformer,
  { dim }: TransformerConfig,
  batch: number,
  frames: number,
): Float32Array {
  const output = tf.tidy(() => {
    const rows = (length: number) =>
      native.binding.givesShapesAlone
        ? tf.zeros([batch, length, dim])
        : tf.randomNormal([batch, length, dim], 0, 1, 'float32', length)
    const time = transformer.embedTime(Array.from({ length: batch }, () => 0.3))
    const [x, memory] = [rows(frames), rows(WORDS)]
    return transformer.forward({ x, memory, time, frames: null, textKeys: null })
  })
  const values = output.dataSync<'float32'>()
  output.dispose()
  return values
}

/** Loads a size, and returns a function that evaluates it for a batch. */
export async function loadTransformerOf(size: string, precision: Precision, seconds: number) {
  const config = await configOf(size)
  const weights = randomWeights(transformerShapes(config, FEATURES))
  const transformer = loadTransformer(weights, config, FEATURES, precision)
  return (batch: number) => evaluate(transformer, config, batch, framesOf(seconds))
}

/**
 * Floating-point operations of all matrix products for one row; a multiplication and its addition
 * count as two.
 */
function flopOf({ dim, layers, feedForwardDim }: TransformerConfig, frames: number): number {
  const attention = 2 * (frames + WORDS) * dim
  const perFrame = layers * (6 * dim ** 2 + 3 * dim * feedForwardDim + attention)
  return 2 * frames * (perFrame + 6 * dim ** 2 + FEATURES * dim)
}
