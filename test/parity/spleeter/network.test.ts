/** Spleeter against its reference, and at the published size. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { GoldenFolder } from '../../support/parity/golden-folder.ts'
import { openTiny } from '../../support/parity/spleeter/stages.ts'
import { readSpleeterConfig, TWO_STEMS } from '../../../models/spleeter/config.ts'
import { loadNetwork } from '../../../models/spleeter/network/network.ts'
import { withShapeBinding } from '../../../models/memory/shape-binding.ts'
import { tf } from '../../../models/tensorflow/tensor.ts'
import { noise } from '../../support/models/lanes.ts'
import { randomWeights } from '../../support/models/random-weights.ts'
import {
  fixtureFolder,
  readInventory,
  testGraph,
  testStages,
} from '../../support/models/open-model.ts'

const FOLDER = fixtureFolder('spleeter')

await testStages(FOLDER, ['published']) // tested in test/integration/models/spleeter/published.test.ts

const { network } = await openTiny(await GoldenFolder.open(FOLDER))
testGraph(tf.tensor3d(noise(6 * 5_000, 1, 0.1), [3, 2, 5_000]), network.separate, 2e-6)

test('every tensor of the published checkpoint is read at its shape', async () => {
  const { kwargs, shapes } = readInventory(FOLDER, 'spleeter-2stems')
  const named = Object.entries(shapes).filter(([name]) => name !== 'global_step')
  const renamed = named.map(([name, shape]) => [name.replaceAll('/', '.'), shape] as const)
  assert.equal(renamed.length, 148)
  await withShapeBinding(async () => {
    const weights = randomWeights(Object.fromEntries(renamed))
    loadNetwork(weights, readSpleeterConfig(kwargs))
    weights.assertAllRead()
  })
})

test('an unsupported configuration is refused by name', () => {
  const refused: [change: object, message: RegExp][] = [
    [{ n_channels: 1 }, /n_channels 1 is not supported, only 2/],
    [{ separation_exponent: 1 }, /separation_exponent 1 is not supported/],
    [{ frame_step: 512 }, /a quarter of frame_length, not 512/],
    [{ T: 500 }, /T to be a multiple of 64 up to \d+, not 500/],
    [{ F: 2_112 }, /F to be a multiple of 64 up to 2048/],
    [{ instrument_list: ['vocals'] }, /2 to 16 names of stems, not \["vocals"\]/],
    [{ model: { type: 'blstm.blstm' } }, /model\.type to be one of unet\.unet, .*blstm/],
    [{ model: { type: 'unet.unet', params: { conv_n_filters: [1] } } }, /6 sizes, not \[1\]/],
    [{ model: { type: 'unet.unet', params: { conv_activation: 'GELU' } } }, /not "GELU"/],
  ]
  for (const [change, message] of refused) {
    assert.throws(() => readSpleeterConfig({ ...TWO_STEMS, ...change }), message)
  }
})
