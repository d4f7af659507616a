/** AudioSep against its reference, and at the published size. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openCheckpoint } from '../../../scripts/parity/audiosep/checkpoint.ts'
import { GoldenFolder } from '../../../scripts/parity/golden-folder.ts'
import { isUsedTensor } from '../../../models/audiosep/checkpoint.ts'
import { readAudioSepConfig } from '../../../models/audiosep/config.ts'
import { loadNetwork } from '../../../models/audiosep/network/network.ts'
import { spectrumOf, wavesOf } from '../../../models/audiosep/spectrum.ts'
import { loadTextEncoder } from '../../../models/audiosep/text.ts'
import { WARM_UP_CALLS } from '../../../models/graph/compiled.ts'
import { onShapes } from '../../../models/memory/shape-binding.ts'
import { tf, type Tensor } from '../../../models/tensor.ts'
import { assertClose } from '../../support/assert-close.ts'
import { randomWeights } from '../../support/random-weights.ts'
import { noise } from '../lanes.ts'
import { fixtureFolder, readInventory, testStages } from '../open-model.ts'

const FOLDER = fixtureFolder('audiosep')

await testStages(FOLDER)

test('as a graph, a row has the answer that it has alone, and nothing is leaked', async () => {
  const { network, config } = await openCheckpoint(await GoldenFolder.open(FOLDER))
  const samples = 4000
  const waves = tf.tensor2d(noise(3 * samples, 1, 0.1), [3, samples])
  const conditions = tf.tensor2d(noise(3 * config.conditionDim, 2, 0.3), [3, config.conditionDim])
  const second = (x: Tensor) => tf.slice(x, [1, 0], [1, -1])
  const separate = (x: Tensor, condition: Tensor) =>
    tf
      .tidy(() => {
        const spectrum = spectrumOf(x, config)
        const answer = network.forward(spectrum.magnitude, condition)
        return wavesOf(spectrum, answer, samples, config)
      })
      .dataSync<'float32'>()
  const alone = tf.tidy(() => ({ values: separate(second(waves), second(conditions)) })).values
  const count = () => tf.memory().numTensors
  const before = count()
  for (let call = 0; call <= WARM_UP_CALLS; call += 1)
    tf.tidy(() => void separate(waves, conditions))
  const together = tf.tidy(() => ({ values: separate(waves, conditions) })).values
  assert.equal(count(), before)
  // sums in another order; the largest sample is about 0.1
  assertClose(together.subarray(samples, 2 * samples), alone, { absolute: 2e-6 })
})

test('every tensor of the published checkpoint is read at its shape', async () => {
  const { shapes } = readInventory(FOLDER, 'audiosep')
  await onShapes(async () => {
    const used = Object.entries(shapes).filter(([name]) => isUsedTensor(name))
    const weights = randomWeights(Object.fromEntries(used))
    const config = readAudioSepConfig(weights, { sampleRate: 32_000 })
    assert.deepEqual(config.channels, [32, 64, 128, 256, 384, 384])
    assert.deepEqual([config.window, config.hop, config.text.heads], [2048, 320, 12])
    loadNetwork(weights.at('ss_model'), config)
    loadTextEncoder(weights.at('query_encoder').at('model'), config.text)
    weights.assertAllRead()
  })
})
