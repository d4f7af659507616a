/** AudioSep against its reference, and at the published size. */
import assert from 'node:assert/strict'
import { openCheckpoint } from '../../support/parity/audiosep/checkpoint.ts'
import { GoldenFolder } from '../../support/parity/golden-folder.ts'
import { isUsedTensor } from '../../../models/audiosep/checkpoint.ts'
import { readAudioSepConfig } from '../../../models/audiosep/config.ts'
import { loadNetwork } from '../../../models/audiosep/network/network.ts'
import { spectrumOf, wavesOf } from '../../../models/audiosep/spectrum.ts'
import { loadTextEncoder } from '../../../models/audiosep/text.ts'
import { tf, type Tensor } from '../../../models/tensorflow/tensor.ts'
import { noise } from '../../support/models/lanes.ts'
import {
  fixtureFolder,
  testGraph,
  testPublished,
  testStages,
} from '../../support/models/open-model.ts'

const FOLDER = fixtureFolder('audiosep')

await testStages(FOLDER)

const { network, config } = await openCheckpoint(await GoldenFolder.open(FOLDER))
const SAMPLES = 4000
const conditions = tf.tensor2d(noise(3 * config.conditionDim, 2, 0.3), [3, config.conditionDim])
/** Separates each row with its own condition; a single row gets the second condition. */
const separate = (waves: Tensor): Tensor =>
  tf.tidy(() => {
    const rows = waves.shape[0]!
    const condition = tf.slice(conditions, [rows === 1 ? 1 : 0, 0], [rows, -1])
    const spectrum = spectrumOf(waves, config)
    return wavesOf(spectrum, network.forward(spectrum.magnitude, condition), SAMPLES, config)
  })
testGraph(tf.tensor2d(noise(3 * SAMPLES, 1, 0.1), [3, SAMPLES]), separate, 2e-6)

testPublished(
  FOLDER,
  'audiosep',
  (weights) => {
    const config = readAudioSepConfig(weights, { sampleRate: 32_000 })
    assert.deepEqual(config.channels, [32, 64, 128, 256, 384, 384])
    assert.deepEqual([config.window, config.hop, config.text.heads], [2048, 320, 12])
    loadNetwork(weights.at('ss_model'), config)
    loadTextEncoder(weights.at('query_encoder').at('model'), config.text)
  },
  (shapes) => Object.fromEntries(Object.entries(shapes).filter(([name]) => isUsedTensor(name))),
)
