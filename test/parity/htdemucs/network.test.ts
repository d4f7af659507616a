/** HTDemucs against its reference, by the comparisons of `npm run parity`, and at full size. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { agrees } from '../../../scripts/parity/comparison.ts'
import { openComparable } from '../../../scripts/parity/comparable.ts'
import { openNetwork } from '../../../scripts/parity/htdemucs/networks.ts'
import { WARM_UP_CALLS } from '../../../models/graph/compiled.ts'
import { readHTDemucsConfig } from '../../../models/htdemucs/config.ts'
import { loadNetwork } from '../../../models/htdemucs/network/network.ts'
import { onShapes } from '../../../models/memory/shape-binding.ts'
import { tf } from '../../../models/tensor.ts'
import { assertClose } from '../../support/assert-close.ts'
import { randomWeights } from '../../support/random-weights.ts'
import { noise } from '../lanes.ts'

const FOLDER = fileURLToPath(new URL('../../fixtures/htdemucs', import.meta.url))

const { stages } = await openComparable(FOLDER)

for (const [name, { missing, run }] of Object.entries(stages)) {
  test(`${name}: everything is within what the manifest allows`, async () => {
    assert.deepEqual(missing, [])
    const comparisons = await run()
    assert.ok(comparisons.length > 0, 'nothing was compared')
    assert.deepEqual(
      comparisons.filter((comparison) => !agrees(comparison)),
      [],
    )
  })
}

test('as a graph, an item has the answer that it has alone, and nothing is leaked', () => {
  const { network, config } = openNetwork(join(FOLDER, 'model/000003bb-feeb7c97.th'))
  const numbers = noise(3 * 2 * config.segmentSamples, 1, 0.1)
  const batch = tf.tensor3d(numbers, [3, 2, config.segmentSamples])
  const second = tf.slice(batch, [1, 0, 0], [1, -1, -1])
  const separate = (x: typeof batch) => {
    const stems = network.separate(x)
    const values = stems.dataSync<'float32'>()
    stems.dispose()
    return values
  }
  const alone = separate(second as typeof batch) // before there is a graph
  const tensors = tf.memory().numTensors
  for (let call = 0; call < WARM_UP_CALLS; call += 1) separate(batch)
  const together = separate(batch)
  assert.equal(tf.memory().numTensors, tensors)
  const size = alone.length
  // both hold sums in other orders; the largest sample is about 0.5
  assertClose(together.subarray(size, 2 * size), alone, { absolute: 1e-5 })
})

for (const name of ['htdemucs', 'htdemucs_6s']) {
  test(`${name}: every tensor of the published checkpoint is read at its shape`, async () => {
    const inventory = JSON.parse(readFileSync(join(FOLDER, `${name}.inventory.json`), 'utf8'))
    const keys = inventory.keys as [name: string, shape: number[]][]
    const shapes = Object.fromEntries(keys.map(([key, shape]) => [key, shape]))
    await onShapes(async () => {
      const weights = randomWeights(shapes)
      loadNetwork(weights, readHTDemucsConfig(inventory.kwargs))
      weights.assertAllRead()
    })
  })
}
