/** Bandit v2 against its reference, and at the published size. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { GoldenFolder } from '../../support/parity/golden-folder.ts'
import { openBandit } from '../../support/parity/bandit/stages.ts'
import { banditCheckpoint } from '../../../models/bandit/checkpoint.ts'
import { readBanditConfig } from '../../../models/bandit/config.ts'
import { loadNetwork } from '../../../models/bandit/network/network.ts'
import { Weights } from '../../../models/checkpoint/weights.ts'
import { withShapeBinding } from '../../../models/memory/shape-binding.ts'
import { tf } from '../../../models/tensorflow/tensor.ts'
import { noise } from '../../support/models/lanes.ts'
import { randomTensors } from '../../support/models/random-weights.ts'
import {
  fixtureFolder,
  readInventory,
  testGraph,
  testStages,
} from '../../support/models/open-model.ts'

const FOLDER = fixtureFolder('bandit')

await testStages(FOLDER)

const { network } = await openBandit(await GoldenFolder.open(FOLDER))
testGraph(tf.tensor3d(noise(3 * 4000, 1, 0.1), [3, 1, 4000]), network.separate, 2e-6)

test('every tensor of the published checkpoint is read at its shape, in the bands stated', async () => {
  const { shapes, band_specs: expected } = readInventory(FOLDER, 'bandit-v2') as ReturnType<
    typeof readInventory
  > & { band_specs: [number, number][] }
  const { tensors, stems, window } = banditCheckpoint(randomTensors(shapes))
  assert.deepEqual(stems, ['speech', 'music', 'sfx'])
  await withShapeBinding(async () => {
    const weights = Weights.of('random weights', tensors)
    const config = readBanditConfig(weights, { sampleRate: 48_000, window, stems })
    loadNetwork(weights, config)
    weights.assertAllRead()
    assert.deepEqual(
      config.bands.map(({ start, bins }) => [start, start + bins]),
      expected,
    )
  })
})

test('what no Bandit has is refused by name', () => {
  const { shapes } = readInventory(FOLDER, 'bandit-v2')
  const { tensors, stems, window } = banditCheckpoint(randomTensors(shapes))
  const read = (more: object, without = /^$/) => {
    const some = [...tensors].filter(([name]) => !without.test(name))
    const stated = { sampleRate: 48_000, window, stems, ...more }
    return readBanditConfig(Weights.of('a file', new Map(some)), stated)
  }
  assert.throws(() => read({ window: 2047 }), /a window of a multiple of 8, not 2047/)
  assert.throws(() => read({ stems: [] }), /the masks of a stem at least/)
  assert.throws(() => read({}, /norm_fc_modules\.1\./), /2 bands at least, not 1/)
  assert.throws(() => read({}, /rnn/), /weight_hh_l0 is missing/)
})
