/** Rows that are padded on a GPU step to the same states. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Weights } from '../../../models/checkpoint/weights.ts'
import { readConfig } from '../../../models/sam-audio/config.ts'
import { bucketOnGpu, stepFlows, type BucketOf } from '../../../models/sam-audio/flow/flow.ts'
import { planStrides } from '../../../models/sam-audio/flow/ode.ts'
import { loadVelocity } from '../../../models/sam-audio/flow/velocity.ts'
import { tf } from '../../../models/tensorflow/tensor.ts'
import { assertClose } from '../../support/basics/assert-close.ts'
import { noise } from '../../support/models/lanes.ts'
import { fc } from '../../support/basics/property.ts'
import { CHECKPOINT, CONFIG } from '../../support/models/tiny-sam-audio.ts'

const config = await readConfig(CONFIG)
const network = loadVelocity(Weights.open(CHECKPOINT), config)
const { dim, contextDim } = config.transformer
const [stride] = planStrides(8)

interface Row {
  frames: number
  words: number
  seed: number
}

function step(rows: readonly Row[], bucketOf: BucketOf): Float32Array[] {
  const random = (length: number, width: number, seed: number) =>
    tf.tensor3d(noise(length * width, seed, 1), [1, length, width])
  return tf.tidy(() => {
    const flows = rows.map(({ frames, words, seed }) => ({
      base: random(frames, dim, seed),
      memory: random(words, contextDim, seed + 1),
      state: random(frames, 2 * config.codec.codebookDim, seed + 2),
    }))
    const strides = rows.map(() => stride!)
    const states = stepFlows(network, network.transformer.embedTime, flows, strides, bucketOf)
    return states.map((state) => state.dataSync<'float32'>())
  })
}

test('padding beyond its frames and words does not change a row', () => {
  const row = fc.record({
    frames: fc.integer({ min: 1, max: 70 }),
    words: fc.integer({ min: 1, max: 20 }),
    seed: fc.nat(),
  })
  fc.assert(
    fc.property(fc.array(row, { minLength: 1, maxLength: 3 }), (rows) => {
      const plain = step(rows, (length) => length)
      for (const [i, state] of step(rows, bucketOnGpu).entries()) {
        assertClose(state, plain[i]!, { absolute: 1e-5 })
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
