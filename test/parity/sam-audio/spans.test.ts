/** Compares anchors and predicted spans with the reference: `golden/span_predictor.*`. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { findSpans } from '../../../models/sam-audio/spans/find-spans.ts'
import {
  loadSpanNetwork,
  loadSpanPredictor,
  readSpanPredictorConfig,
} from '../../../models/sam-audio/spans/span-predictor.ts'
import { tf, type Tensor } from '../../../models/tensorflow/tensor.ts'
import { TextTokenizer } from '../../../models/text/tokenizer.ts'
import { Weights } from '../../../models/checkpoint/weights.ts'
import { assertClose } from '../../support/basics/assert-close.ts'
import { noise } from '../../support/models/lanes.ts'
import { fc } from '../../support/basics/property.ts'
import { reference, testStage } from './stages.ts'

testStage('anchors')
testStage('spans')
testStage('predict')

const folder = reference.folderOf('spans')
const config = await readSpanPredictorConfig(join(folder, 'config.json'))
const network = loadSpanNetwork(Weights.open(join(folder, 'model.safetensors')), config)
const tokenizer = await TextTokenizer.load(folder, 512)
const CLOCK = { sampleRate: 2400, hop: 96 }

interface Row {
  frames: number
  text: string
  seed: number
}

/** Returns features of rows of any length, padded to the longest with values that must have no effect. */
function featuresOf(rows: readonly Row[]): Tensor {
  const longest = Math.max(...rows.map(({ frames }) => frames))
  const { featureDim } = config
  return tf.tidy(() =>
    tf.stack(
      rows.map(({ frames, seed }) => {
        const real = tf.tensor2d(noise(frames * featureDim, seed, 3), [frames, featureDim])
        return tf.pad(
          real,
          [
            [0, longest - frames],
            [0, 0],
          ],
          7,
        ) // [longest, featureDim]
      }),
    ),
  )
}

function scoresOf(rows: readonly Row[]): Float32Array[] {
  const longest = Math.max(...rows.map(({ frames }) => frames))
  const scores = tf.tidy(() => {
    const { ids, valid } = tokenizer.batch(rows.map(({ text }) => text))
    const encodedAudio = network.embedAudio(
      featuresOf(rows),
      rows.map(({ frames }) => frames),
    )
    return network.logits(encodedAudio, network.embedText(ids, valid)).sigmoid()
  })
  const flat = scores.dataSync<'float32'>()
  scores.dispose()
  return rows.map(({ frames }, i) => flat.slice(i * longest, i * longest + frames))
}

const text = fc.constantFrom('a dog', '', 'rain on a tin roof while somebody speaks quietly', 'ö')
const row = fc.record({ frames: fc.integer({ min: 1, max: 60 }), text, seed: fc.nat() })

test('a row scores the same alone, padded and in any batch', () => {
  fc.assert(
    fc.property(fc.array(row, { minLength: 2, maxLength: 4 }), (rows) => {
      const before = tf.memory().numTensors
      const together = scoresOf(rows)
      for (const [i, each] of rows.entries()) {
        assertClose(together[i]!, scoresOf([each])[0]!, { absolute: 1e-5 })
      }
      assert.equal(tf.memory().numTensors, before)
    }),
    { numRuns: 12 },
  )
})

test('predicted spans come from the scores of the real frames', async () => {
  const { predict } = await loadSpanPredictor(folder)
  const rows = [
    { frames: 40, text: 'a dog', seed: 3 },
    { frames: 9, text: 'rain', seed: 5 },
  ]
  const features = featuresOf(rows)
  const before = tf.memory().numTensors
  const predicted = predict(features, [40, 9], ['a dog', 'rain'], CLOCK)
  assert.equal(tf.memory().numTensors, before)
  features.dispose()
  assert.deepEqual(
    predicted,
    scoresOf(rows).map((scores) => findSpans(scores, CLOCK)),
  )
  assert.equal(predicted.flat().length > 0, true, 'nothing was found')
})

test('spans are exactly the runs of scores above the threshold', () => {
  const scores = fc.array(fc.constantFrom(0, 0.3, 0.31, 1, Number.NaN), { maxLength: 40 })
  fc.assert(
    fc.property(scores, (row) => {
      const clock = { sampleRate: 8, hop: 1 } // float32 holds its times exactly
      const spans = findSpans(row, clock)
      const covered = row.map((_, frame) =>
        spans.some(({ start, end }) => start * 8 <= frame && frame < end * 8),
      )
      assert.deepEqual(
        covered,
        row.map((score) => score > 0.3),
      )
      for (const [i, { start, end, include }] of spans.entries()) {
        assert.equal(include && end > start && start > (spans[i - 1]?.end ?? -1), true)
      }
    }),
  )
})
