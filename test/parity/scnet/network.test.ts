/** SCNet against its references, and at the published sizes. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { GoldenFolder } from '../../support/parity/golden-folder.ts'
import { openScnet } from '../../support/parity/scnet/open.ts'
import { levelLengths, readScnetConfig } from '../../../models/scnet/config.ts'
import { loadLstmInOne, loadLstmInSteps } from '../../../models/scnet/network/lstm.ts'
import { loadNetwork } from '../../../models/scnet/network/network.ts'
import { hasLstm, LSTM_TILE, tf, type Tensor3D } from '../../../models/tensorflow/tensor.ts'
import { noise } from '../../support/models/lanes.ts'
import { randomWeights } from '../../support/models/random-weights.ts'
import {
  fixtureFolder,
  readInventory,
  testGraph,
  testPublished,
  testRefusals,
  testStages,
} from '../../support/models/open-model.ts'

const FOLDER = fixtureFolder('scnet')

await testStages(FOLDER)

const { network } = await openScnet(await GoldenFolder.open(FOLDER))
testGraph(tf.tensor3d(noise(3 * 2 * 2000, 1, 0.1), [3, 2, 2000]), network.separate, 1e-5)

test('any length is separated, even one sample', () => {
  for (const samples of [1, 64, 129, 2000]) {
    const stems = tf.tidy(() => network.separate(tf.ones([1, 2, samples])))
    assert.deepEqual(stems.shape, [1, 4, 2, samples])
    assert.ok(stems.dataSync<'float32'>().every(Number.isFinite))
    stems.dispose()
  }
})

const WITHOUT_LSTM = { skip: !hasLstm() && 'a processor without AVX2, or a GPU' }

test('a recurrent layer in one operation equals one in steps, row by row', WITHOUT_LSTM, () => {
  const [steps, rows, dim, hidden] = [37, 13, 5, 20] // multiples of neither a graph's steps nor a tile
  const weights = randomWeights({
    ...Object.fromEntries(
      ['', '_reverse'].flatMap((direction) => [
        [`weight_ih_l0${direction}`, [4 * hidden, dim]],
        [`weight_hh_l0${direction}`, [4 * hidden, hidden]],
        [`bias_ih_l0${direction}`, [4 * hidden]],
        [`bias_hh_l0${direction}`, [4 * hidden]],
      ]),
    ),
  })
  const inOne = loadLstmInOne(weights, dim, hidden)
  const inSteps = loadLstmInSteps(weights, dim, hidden)
  tf.tidy(() => {
    const x = tf.tensor3d(noise(steps * rows * dim, 2), [steps, rows, dim])
    const whole = inOne(x) as Tensor3D
    const farthest = (a: Tensor3D, b: Tensor3D) => a.sub(b).abs().max().dataSync()[0]!
    assert.ok(farthest(whole, inSteps(x) as Tensor3D) < 1e-6)
    for (const row of [0, 7, rows - 1]) {
      const alone = inOne(tf.slice(x, [0, row, 0], [-1, 1, -1])) as Tensor3D
      assert.equal(farthest(alone, tf.slice(whole, [0, row, 0], [-1, 1, -1])), 0)
    }
  })
  const wide = tf.zeros([steps, rows, dim + LSTM_TILE])
  assert.throws(() => inOne(wide), /WinnowLstm's weights do not fit its input/)
})

/** Lengths of each level, from the notes on the reference. */
const LENGTHS: Readonly<Record<string, number[][]>> = {
  scnet: [
    [359, 803, 887, 359, 201, 56],
    [108, 242, 266, 108, 61, 17],
    [33, 73, 80, 33, 19, 5],
  ],
  'scnet-large': [
    [462, 762, 825, 462, 191, 52],
    [159, 262, 284, 159, 66, 18],
    [55, 91, 97, 55, 23, 7],
  ],
}

for (const [name, expected] of Object.entries(LENGTHS)) {
  testPublished(FOLDER, name, (weights, model) => {
    const config = readScnetConfig({ model })
    const lengths = levelLengths(config).map(({ before, after }) => [...before, ...after])
    assert.deepEqual(lengths, expected)
    loadNetwork(weights, config)
  })
}

const { kwargs } = readInventory(FOLDER, 'scnet')
testRefusals(
  [
    [{ win_size: 2048 }, /whose window is shorter than its transform is not supported/],
    [{ nfft: 4095, win_size: 4095 }, /nfft to be an even number, not 4095/],
    [{ dims: [2, 32] }, /dims to begin with twice its audio_channels, not \[2,32\]/],
    [{ band_SR: [0.5, 0.5, 0] }, /band_SR to be 3 shares .* not \[0\.5,0\.5,0\]/],
    [{ band_stride: [1, 4] }, /band_stride to be 3 sizes, not \[1,4\]/],
    [{ conv_kernel: 4 }, /conv_kernel to be odd, not 4/],
    [{ num_dplayer: 5 }, /num_dplayer to be even, not 5/],
    [{ sources: [] }, /sources to be 1 to 16 names of stems/],
    [{ expand: undefined }, /expand to be a whole number from 1 to \d+, not nothing/],
  ],
  (change) => readScnetConfig({ model: { ...kwargs, ...change } }),
)
