/** RoFormer against its reference, and at the published sizes. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { GoldenFolder } from '../../support/parity/golden-folder.ts'
import { openRoformer } from '../../support/parity/roformer/stages.ts'
import { openRoformerCheckpoint } from '../../../models/roformer/checkpoint.ts'
import { Weights } from '../../../models/checkpoint/weights.ts'
import { readRoformerConfig } from '../../../models/roformer/config.ts'
import { loadNetwork } from '../../../models/roformer/network/network.ts'
import { tf } from '../../../models/tensorflow/tensor.ts'
import { assertClose } from '../../support/basics/assert-close.ts'
import { noise } from '../../support/models/lanes.ts'
import {
  fixtureFolder,
  readInventory,
  testGraph,
  testPublished,
  testRefusals,
  testStages,
} from '../../support/models/open-model.ts'

const FOLDER = fixtureFolder('roformer')

await testStages(FOLDER)

const { network, config } = await openRoformer(await GoldenFolder.open(FOLDER), 'mel')
const shape: [number, number, number] = [3, 2, config.chunkSamples]
testGraph(tf.tensor3d(noise(3 * 2 * config.chunkSamples, 1, 0.1), shape), network.separate, 2e-6)

test('in bfloat16 it matches float32 within rounding', () => {
  const mixture = tf.tensor3d(noise(2 * config.chunkSamples, 1, 0.1), [1, 2, config.chunkSamples])
  const file = join(FOLDER, 'model-mel/mel_tiny.ckpt')
  const weights = Weights.of(file, openRoformerCheckpoint(file)).in('bfloat16')
  const narrow = loadNetwork(weights, config)
  const [expected, actual] = [network, narrow].map((each) =>
    tf.tidy(() => each.separate(mixture).dataSync<'float32'>()),
  ) as [Float32Array, Float32Array]
  assert.notDeepEqual(actual, expected)
  assertClose(actual, expected, { relative: 0.03 })
})

const AUDIO = { chunk_size: 352_800, sample_rate: 44_100 }
const ONE_STEM = { instruments: ['vocals', 'other'], target_instrument: 'vocals' }
const read = (model: Readonly<Record<string, unknown>>) =>
  readRoformerConfig({ audio: AUDIO, model, training: ONE_STEM })

for (const name of ['bs-roformer-viperx-317', 'mel-band-roformer-kim']) {
  testPublished(FOLDER, name, (weights, model) => loadNetwork(weights, read(model)))
}

test('the mel bands of the published size have the same bins as in librosa', () => {
  const inventory = readInventory(FOLDER, 'mel-band-roformer-kim')
  const { kwargs, bands_first_bin_and_one_past_last: expected } = inventory as typeof inventory & {
    bands_first_bin_and_one_past_last: [number, number][]
  }
  const { bands } = read(kwargs)
  assert.deepEqual(
    bands.map(({ start, bins }) => [start, start + bins]),
    expected,
  )
})

const { kwargs } = readInventory(FOLDER, 'mel-band-roformer-kim')
testRefusals(
  [
    [{ linear_transformer_depth: 1 }, /linear_transformer_depth 1 is not supported, only 0/],
    [{ skip_connection: true }, /skip_connection true is not supported/],
    [{ stft_win_length: 1024 }, /window is shorter than its transform/],
    [{ num_stems: 3 }, /with 3 stems needs as many in training\.instruments/],
    [{ dim: 'wide' }, /dim to be a whole number/],
    [{ num_bands: undefined, freqs_per_bands: [2, 3] }, /add up to 1025 bins, not 5/],
  ],
  (change) => read({ ...kwargs, ...change }),
)
