/** HTDemucs against its reference, and at the published sizes. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { openNetwork } from '../../support/parity/htdemucs/networks.ts'
import { readHTDemucsConfig } from '../../../models/htdemucs/config.ts'
import { loadNetwork } from '../../../models/htdemucs/network/network.ts'
import { tf } from '../../../models/tensorflow/tensor.ts'
import { noise } from '../../support/models/lanes.ts'
import {
  fixtureFolder,
  readInventory,
  testGraph,
  testPublished,
  testRefusals,
  testStages,
} from '../../support/models/open-model.ts'

const FOLDER = fixtureFolder('htdemucs')

await testStages(FOLDER)

const { network, config } = openNetwork(join(FOLDER, 'model/000003bb-feeb7c97.th'))
const shape: [number, number, number] = [3, 2, config.segmentSamples]
const numbers = noise(3 * 2 * config.segmentSamples, 1, 0.1)
testGraph(tf.tensor3d(numbers, shape), network.separate, 1e-5)

for (const name of ['htdemucs', 'htdemucs_6s']) {
  testPublished(FOLDER, name, (weights, kwargs) => loadNetwork(weights, readHTDemucsConfig(kwargs)))
}

const { kwargs } = readInventory(FOLDER, 'htdemucs')

test('a segment is as long as its fraction says, to the sample', () => {
  assert.equal(readHTDemucsConfig(kwargs).segmentSamples, 343_980) // in floating point, 7.8 s would have 343,979
})

testRefusals(
  [
    [{ wiener_iters: 1 }, /HTDemucs with wiener_iters 1 is not supported, only 0/],
    [{ dconv_mode: undefined }, /HTDemucs with dconv_mode nothing is not supported, only 3/],
    [{ norm_starts: 2 }, /norms in its encoders/],
    [{ sources: [] }, /sources to be 1 to 16 names of stems/],
    [{ sources: ['../escape'] }, /sources to be/],
    [{ segment: '1/0' }, /segment to be a fraction of seconds/],
    [{ segment: 7.8 }, /segment to be a fraction of seconds/],
    [{ channels: 2 ** 40 }, /channels to be a whole number from 1 to 65536/],
    [{ freq_emb: 'much' }, /freq_emb to be a number/],
  ],
  (change) => readHTDemucsConfig({ ...kwargs, ...change }),
)
