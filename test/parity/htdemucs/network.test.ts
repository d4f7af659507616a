/** HTDemucs against its reference, and at the published sizes. */
import { join } from 'node:path'
import { test } from 'node:test'
import { openNetwork } from '../../support/parity/htdemucs/networks.ts'
import { readHTDemucsConfig } from '../../../models/htdemucs/config.ts'
import { loadNetwork } from '../../../models/htdemucs/network/network.ts'
import { withShapeBinding } from '../../../models/memory/shape-binding.ts'
import { tf } from '../../../models/tensorflow/tensor.ts'
import { randomWeights } from '../../support/models/random-weights.ts'
import { noise } from '../../support/models/lanes.ts'
import {
  fixtureFolder,
  readInventory,
  testGraph,
  testStages,
} from '../../support/models/open-model.ts'

const FOLDER = fixtureFolder('htdemucs')

await testStages(FOLDER)

const { network, config } = openNetwork(join(FOLDER, 'model/000003bb-feeb7c97.th'))
const shape: [number, number, number] = [3, 2, config.segmentSamples]
const numbers = noise(3 * 2 * config.segmentSamples, 1, 0.1)
testGraph(tf.tensor3d(numbers, shape), network.separate, 1e-5)

for (const name of ['htdemucs', 'htdemucs_6s']) {
  test(`${name}: every tensor of the published checkpoint is read at its shape`, async () => {
    const { kwargs, shapes } = readInventory(FOLDER, name)
    await withShapeBinding(async () => {
      const weights = randomWeights(shapes)
      loadNetwork(weights, readHTDemucsConfig(kwargs))
      weights.assertAllRead()
    })
  })
}
