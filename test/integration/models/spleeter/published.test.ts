/** The published weights of Spleeter, compared with the reference, and as an engine keeps them. */
import assert from 'node:assert/strict'
import { cpSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { temporaryFolder } from '../../../support/basics/temporary-folder.ts'
import { agrees } from '../../../support/parity/comparison.ts'
import { openComparable } from '../../../support/parity/comparable.ts'
import { GoldenFolder } from '../../../support/parity/golden-folder.ts'
import { Weights } from '../../../../models/checkpoint/weights.ts'
import { openSpleeterCheckpoint } from '../../../../models/spleeter/checkpoint.ts'
import { readSpleeterConfig, TWO_STEMS } from '../../../../models/spleeter/config.ts'
import { loadNetwork } from '../../../../models/spleeter/network/network.ts'
import { tf, type Tensor } from '../../../../models/tensorflow/tensor.ts'
import { fixtureFolder } from '../../../support/models/open-model.ts'
import {
  SONGS_MODEL_FOLDER,
  unpackCheckpoint,
  WITH_CHECKPOINT,
  WITH_WEIGHTS,
} from '../../../support/models/spleeter-weights.ts'

const FIXTURES = fixtureFolder('spleeter')
const WITH_BOTH = { skip: WITH_CHECKPOINT.skip || WITH_WEIGHTS.skip }

test('the published checkpoint agrees with its reference', WITH_CHECKPOINT, async (t) => {
  const folder = temporaryFolder(t)
  for (const file of ['MANIFEST.json', 'real.safetensors']) {
    cpSync(join(FIXTURES, file), join(folder, file))
  }
  mkdirSync(join(folder, 'model'))
  await unpackCheckpoint(join(folder, 'model'))
  const { stages, ...rest } = await openComparable(folder)
  const comparisons = await stages.published!.run()
  assert.deepEqual(
    comparisons.filter((comparison) => !agrees(comparison)),
    [],
  )
  assert.equal(comparisons.length, 11)
  assert.deepEqual(rest.untouched, [])
})

test('what set-up stores in half precision is the same to 50 dB', WITH_BOTH, async (t) => {
  const folder = temporaryFolder(t)
  await unpackCheckpoint(folder)
  const config = readSpleeterConfig(TWO_STEMS)
  const golden = (await GoldenFolder.open(FIXTURES)).golden('real.safetensors')
  const mixture = tf.transpose(golden.tensor('mix')).expandDims(0)
  const [whole, half] = [
    Weights.of('published', openSpleeterCheckpoint(join(folder, 'model.index'))),
    Weights.open(join(SONGS_MODEL_FOLDER, 'model.safetensors')),
  ].map((weights) => loadNetwork(weights, config).separate(mixture)) as [Tensor, Tensor]
  const [error, energy] = [half.sub(whole), whole].map((x) => x.square().sum().dataSync()[0]!)
  const db = 10 * Math.log10(energy! / error!)
  t.diagnostic(`${db.toFixed(1)} dB`)
  assert.ok(db > 50, `${db} dB`)
})
