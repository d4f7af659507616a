/** One evaluation of the flow network against the reference: `golden/dit_forward.safetensors`. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { WARM_UP_CALLS } from '../../../models/graph/graph-cache.ts'
import { keyBias } from '../../../models/layers/layers.ts'
import { readConfig } from '../../../models/sam-audio/config.ts'
import { rowMask } from '../../../models/sam-audio/layers/row-mask.ts'
import { tabulateEmbedding } from '../../../models/sam-audio/flow/time-embedding.ts'
import { loadVelocity } from '../../../models/sam-audio/flow/velocity.ts'
import { tf } from '../../../models/tensorflow/tensor.ts'
import { Weights } from '../../../models/checkpoint/weights.ts'
import { assertClose } from '../../support/basics/assert-close.ts'
import { noise } from '../../support/models/lanes.ts'
import { fc } from '../../support/basics/property.ts'
import { CHECKPOINT, CONFIG } from '../../support/models/tiny-sam-audio.ts'
import { testStage } from './stages.ts'

testStage('velocity')

const config = await readConfig(CONFIG)
const { codebookDim } = config.codec
const network = loadVelocity(Weights.open(CHECKPOINT), config)
const { conditions, transformer } = network
interface Row {
  frames: number
  words: number
  time: number
  anchor: number
  seed: number
}

/** Evaluates rows of any lengths, times, texts and anchors in one batch, padded to the longest. */
function evaluate(batchRows: readonly Row[]): Float32Array[] {
  const most = Math.max(...batchRows.map(({ frames }) => frames))
  const mostWords = Math.max(...batchRows.map(({ words }) => words))
  const filled = (width: number, length: (row: Row) => number, to: number, salt: number) =>
    tf.concat(
      batchRows.map((row) => {
        const numbers = noise(length(row) * width, row.seed + salt, 2)
        return tf.pad(tf.tensor3d(numbers, [1, length(row), width]), [
          [0, 0],
          [0, to - length(row)],
          [0, 0],
        ])
      }),
    )
  const mask = rowMask(
    batchRows.map(({ frames }) => frames),
    most,
  )
  const time = transformer.embedTime(batchRows.map((row) => row.time))
  const answer = tf.tidy(() => {
    const tokens = tf.tensor2d(
      batchRows.flatMap(({ frames, anchor }) =>
        Array.from({ length: most }, (_, i) => (i < frames / 2 ? anchor : 0)),
      ),
      [batchRows.length, most],
      'int32',
    )
    const valid = tf.tensor2d(
      batchRows.flatMap(({ words }) =>
        Array.from({ length: mostWords }, (_, i) => (i < words ? 1 : 0)),
      ),
      [batchRows.length, mostWords],
    )
    return network.forward(
      filled(2 * codebookDim, (row) => row.frames, most, 1),
      time,
      {
        base: conditions
          .audio(filled(codebookDim, (row) => row.frames, most, 2))
          .add(conditions.anchors(tokens)),
        memory: conditions.memory(filled(config.textDim, (row) => row.words, mostWords, 3)),
        frames: mask,
        textKeys: keyBias(valid),
      },
    )
  })
  const flat = answer.dataSync<'float32'>()
  answer.dispose()
  tf.dispose([{ ...mask }, { ...time }])
  const width = 2 * codebookDim
  return batchRows.map(({ frames }, i) => flat.slice(i * most * width, (i * most + frames) * width))
}

test('a row gives the same alone, padded and in any batch, at any time', () => {
  const row = fc.record({
    frames: fc.integer({ min: 1, max: 60 }),
    words: fc.integer({ min: 1, max: 9 }),
    time: fc.integer({ min: 0, max: 64 }).map((step) => step / 64),
    anchor: fc.integer({ min: 0, max: config.anchors - 1 }),
    seed: fc.nat(),
  })
  fc.assert(
    fc.property(fc.array(row, { minLength: 2, maxLength: 5 }), (batchRows) => {
      const before = tf.memory().numTensors
      const together = evaluate(batchRows)
      for (const [i, each] of batchRows.entries()) {
        assertClose(together[i]!, evaluate([each])[0]!, { absolute: 1e-5 })
      }
      assertClose([tf.memory().numTensors], [before], { absolute: 0 })
    }),
    { numRuns: 25 },
  )
})

test('as a graph it gives the same, with its masks', () => {
  const rows = [
    { frames: 20, words: 3, time: 0.25, anchor: 1, seed: 5 },
    { frames: 13, words: 5, time: 0.5, anchor: 0, seed: 6 },
  ]
  const stepByStep = evaluate(rows)
  for (let call = 0; call <= WARM_UP_CALLS; call += 1) {
    for (const [i, row] of evaluate(rows).entries())
      assertClose(row, stepByStep[i]!, { absolute: 1e-5 })
  }
})

test('times embedded from a table equal those embedded directly, and one outside it is refused', () => {
  const times = [0, 0.25, 0.9]
  const [direct, table] = [
    transformer.embedTime(times),
    tabulateEmbedding(transformer.embedTime, [0.9, 0.5, 0.25, 0])(times),
  ]
  for (const name of ['final', 'blocks', 'memory'] as const) {
    assertClose(table[name].dataSync<'float32'>(), direct[name].dataSync<'float32'>(), {
      absolute: 1e-6,
    })
  }
  tf.dispose([{ ...direct }, { ...table }])
  assert.throws(
    () => tabulateEmbedding(transformer.embedTime, [0, 1])([0.5]),
    /0.5 is not in the table/,
  )
})

test('a row with more frames than the network has positions is refused', () => {
  const frames = config.transformer.positionsMax + 1
  assert.throws(
    () => evaluate([{ frames, words: 1, time: 0, anchor: 0, seed: 1 }]),
    /at most 10000 frames/,
  )
})
