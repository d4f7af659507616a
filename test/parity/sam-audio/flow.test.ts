/** The flow network in batches, padded as on a GPU, and as a graph. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Weights } from '../../../models/checkpoint/weights.ts'
import { readConfig } from '../../../models/sam-audio/config.ts'
import { bucketOnGpu, stepFlows, type BucketOf } from '../../../models/sam-audio/flow/flow.ts'
import { planStrides } from '../../../models/sam-audio/flow/ode.ts'
import { tabulateEmbedding } from '../../../models/sam-audio/flow/time-embedding.ts'
import { loadVelocity } from '../../../models/sam-audio/flow/velocity.ts'
import { tf, type Tensor } from '../../../models/tensorflow/tensor.ts'
import { assertClose } from '../../support/basics/assert-close.ts'
import { noise } from '../../support/models/lanes.ts'
import { testGraph } from '../../support/models/open-model.ts'
import { fc } from '../../support/basics/property.ts'
import { CHECKPOINT, CONFIG } from '../../support/models/tiny-sam-audio.ts'

const config = await readConfig(CONFIG)
const network = loadVelocity(Weights.open(CHECKPOINT), config)
const { embedTime } = network.transformer
const { dim, contextDim } = config.transformer
const channels = 2 * config.codec.codebookDim
const [stride] = planStrides(8)

interface Row {
  frames: number
  words: number
  seed: number
}

const random = (length: number, width: number, seed: number) =>
  tf.tensor3d(noise(length * width, seed, 1), [1, length, width])

function step(rows: readonly Row[], bucketOf: BucketOf): Float32Array[] {
  return tf.tidy(() => {
    const flows = rows.map(({ frames, words, seed }) => ({
      base: random(frames, dim, seed),
      memory: random(words, contextDim, seed + 1),
      state: random(frames, channels, seed + 2),
    }))
    const strides = rows.map(() => stride!)
    const states = stepFlows(network, embedTime, flows, strides, bucketOf)
    return states.map((state) => state.dataSync<'float32'>())
  })
}

test('neither its company nor padding beyond its frames and words changes a row', () => {
  const row = fc.record({
    frames: fc.integer({ min: 1, max: 70 }),
    words: fc.integer({ min: 1, max: 20 }),
    seed: fc.nat(),
  })
  fc.assert(
    fc.property(fc.array(row, { minLength: 1, maxLength: 3 }), (rows) => {
      for (const [i, state] of step(rows, bucketOnGpu).entries()) {
        const [alone] = step([rows[i]!], (length) => length)
        assertClose(state, alone!, { absolute: 1e-5 })
      }
    }),
    { numRuns: 12 },
  )
})

test('there are few bucket sizes, and none is much longer than its rows', () => {
  const lengths = Array.from({ length: 1_500 }, (_, i) => i + 1)
  assert.ok(new Set(lengths.map(bucketOnGpu)).size <= 56)
  for (const length of lengths) {
    const padded = bucketOnGpu(length)
    assert.ok(padded >= length && padded - length < Math.max(4, length / 8), `${length}: ${padded}`)
  }
})

const FRAMES = 20
const [base, memory] = [random(FRAMES, dim, 1), random(3, contextDim, 2)]
const evaluate = (x: Tensor): Tensor =>
  tf.tidy(() => {
    const rows = x.shape[0]!
    return network.forward(x, embedTime(Array<number>(rows).fill(0.25)), {
      base: tf.tile(base, [rows, 1, 1]),
      memory: tf.tile(memory, [rows, 1, 1]),
      frames: null,
      textKeys: null,
    })
  })
testGraph(tf.tensor3d(noise(3 * FRAMES * channels, 3, 1), [3, FRAMES, channels]), evaluate, 1e-5)

test('times embedded from a table equal those embedded directly, and one outside it is refused', () => {
  const times = [0, 0.25, 0.9]
  const [direct, table] = [
    embedTime(times),
    tabulateEmbedding(embedTime, [0.9, 0.5, 0.25, 0])(times),
  ]
  for (const name of ['final', 'blocks', 'memory'] as const) {
    assertClose(table[name].dataSync<'float32'>(), direct[name].dataSync<'float32'>(), {
      absolute: 1e-6,
    })
  }
  assert.throws(() => tabulateEmbedding(embedTime, [0, 1])([0.5]), /0.5 is not in the table/)
})
