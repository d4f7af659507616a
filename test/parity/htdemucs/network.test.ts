/** HTDemucs against its reference, and at the published sizes. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { openNetwork } from '../../../scripts/parity/htdemucs/networks.ts'
import { WARM_UP_CALLS } from '../../../models/graph/compiled.ts'
import { readHTDemucsConfig } from '../../../models/htdemucs/config.ts'
import { loadNetwork } from '../../../models/htdemucs/network/network.ts'
import { onShapes } from '../../../models/memory/shape-binding.ts'
import { tf } from '../../../models/tensor.ts'
import { assertClose } from '../../support/assert-close.ts'
import { randomWeights } from '../../support/random-weights.ts'
import { noise } from '../lanes.ts'
import { fixtureFolder, readInventory, testStages } from '../open-model.ts'

const FOLDER = fixtureFolder('htdemucs')

await testStages(FOLDER)

test('as a graph, an item has the answer that it has alone, and nothing is leaked', () => {
  const { network, config } = openNetwork(join(FOLDER, 'model/000003bb-feeb7c97.th'))
  const numbers = noise(3 * 2 * config.segmentSamples, 1, 0.1)
  const batch = tf.tensor3d(numbers, [3, 2, config.segmentSamples])
  const second = tf.slice(batch, [1, 0, 0], [1, -1, -1])
  const separate = (x: typeof batch) => {
    const stems = network.separate(x)
    const values = stems.dataSync<'float32'>()
    stems.dispose()
    return values
  }
  const alone = separate(second as typeof batch) // before there is a graph
  const tensors = tf.memory().numTensors
  for (let call = 0; call < WARM_UP_CALLS; call += 1) separate(batch)
  const together = separate(batch)
  assert.equal(tf.memory().numTensors, tensors)
  const size = alone.length
  // both hold sums in other orders; the largest sample is about 0.5
  assertClose(together.subarray(size, 2 * size), alone, { absolute: 1e-5 })
})

for (const name of ['htdemucs', 'htdemucs_6s']) {
  test(`${name}: every tensor of the published checkpoint is read at its shape`, async () => {
    const { kwargs, shapes } = readInventory(FOLDER, name)
    await onShapes(async () => {
      const weights = randomWeights(shapes)
      loadNetwork(weights, readHTDemucsConfig(kwargs))
      weights.assertAllRead()
    })
  })
}
