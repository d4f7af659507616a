/** Spleeter against its reference, and at the published size. */
import assert from 'node:assert/strict'
import { GoldenFolder } from '../../support/parity/golden-folder.ts'
import { openTiny } from '../../support/parity/spleeter/stages.ts'
import { readSpleeterConfig, TWO_STEMS } from '../../../models/spleeter/config.ts'
import { loadNetwork } from '../../../models/spleeter/network/network.ts'
import { tf } from '../../../models/tensorflow/tensor.ts'
import { noise } from '../../support/models/lanes.ts'
import {
  fixtureFolder,
  testGraph,
  testPublished,
  testRefusals,
  testStages,
} from '../../support/models/open-model.ts'

const FOLDER = fixtureFolder('spleeter')

await testStages(FOLDER, ['published']) // tested in test/integration/models/spleeter/published.test.ts

const { network } = await openTiny(await GoldenFolder.open(FOLDER))
testGraph(tf.tensor3d(noise(6 * 5_000, 1, 0.1), [3, 2, 5_000]), network.separate, 2e-6)

testPublished(
  FOLDER,
  'spleeter-2stems',
  (weights, kwargs) => loadNetwork(weights, readSpleeterConfig(kwargs)),
  (shapes) => {
    const named = Object.entries(shapes).filter(([name]) => name !== 'global_step')
    assert.equal(named.length, 148)
    return Object.fromEntries(named.map(([name, shape]) => [name.replaceAll('/', '.'), shape]))
  },
)

testRefusals(
  [
    [{ n_channels: 1 }, /n_channels 1 is not supported, only 2/],
    [{ separation_exponent: 1 }, /separation_exponent 1 is not supported/],
    [{ frame_step: 512 }, /a quarter of frame_length, not 512/],
    [{ T: 500 }, /T to be a multiple of 64 up to \d+, not 500/],
    [{ F: 2_112 }, /F to be a multiple of 64 up to 2048/],
    [{ instrument_list: ['vocals'] }, /2 to 16 names of stems, not \["vocals"\]/],
    [{ model: { type: 'blstm.blstm' } }, /model\.type to be one of unet\.unet, .*blstm/],
    [{ model: { type: 'unet.unet', params: { conv_n_filters: [1] } } }, /6 sizes, not \[1\]/],
    [{ model: { type: 'unet.unet', params: { conv_activation: 'GELU' } } }, /not "GELU"/],
  ],
  (change) => readSpleeterConfig({ ...TWO_STEMS, ...change }),
)
