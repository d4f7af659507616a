/** Checkpoints with exactly the tensors of the published ones are read in full. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { countOf } from '../../../models/checkpoint/stored-tensor.ts'
import { openTensors } from '../../../models/checkpoint/weights.ts'
import { withShapeBinding } from '../../../models/memory/shape-binding.ts'
import { readConfig } from '../../../models/sam-audio/config.ts'
import { loadNetwork } from '../../../models/sam-audio/network.ts'
import {
  checkpointShapes,
  publishedSizes,
  type PublishedSize,
} from '../../support/models/published.ts'
import { randomWeights } from '../../support/models/random-weights.ts'
import { CHECKPOINT, CONFIG } from '../../support/models/tiny-sam-audio.ts'

test('the shapes for a configuration are those that the reference made for the fixture', async () => {
  const stored = openTensors(CHECKPOINT)
  for (const [name, shape] of Object.entries(checkpointShapes(await readConfig(CONFIG)))) {
    assert.deepEqual(stored.get(name)?.shape, shape, name)
  }
})

/** Millions of parameters in the transformer, counted from the reference rather than by this code. */
const PARAMETERS: Record<PublishedSize, number> = { small: 219.8, base: 643.1, large: 2928.8 }

for (const [size, expected] of Object.entries(PARAMETERS)) {
  test(`${size}: every tensor is read at its shape`, async () => {
    const config = publishedSizes(size as PublishedSize)
    const shapes = checkpointShapes(config)
    const transformer = Object.entries(shapes).filter(([name]) => name.startsWith('transformer.'))
    const millions = transformer.reduce((sum, [, shape]) => sum + countOf(shape), 0) / 1e6
    assert.equal(Number(millions.toFixed(1)), expected)
    for (const precision of ['float32', 'bfloat16'] as const) {
      await withShapeBinding(async (memory) => {
        loadNetwork(randomWeights(shapes), config, precision) // throws if a tensor is missing or left unread
        const width = memory.inUse / 1e6 / millions
        assert.ok(precision === 'float32' ? width > 4 : width > 2, `${width} bytes a parameter`)
      })
    }
  })
}

test('an extra tensor, a missing one and one of another shape are named', async () => {
  const config = publishedSizes('small')
  const shapes = checkpointShapes(config)
  const load = (changed: Record<string, readonly number[]>) =>
    withShapeBinding(async () => loadNetwork(randomWeights(changed), config))
  const name = 'transformer.layers.0.attention.wq.weight'
  const { [name]: shape, ...rest } = shapes
  await assert.rejects(
    load(rest),
    /weight transformer\.layers\.0\.attention\.wq\.weight is missing/,
  )
  await assert.rejects(load({ ...shapes, [name]: [...shape!].map((n) => n + 1) }), /has shape/)
  await assert.rejects(
    load({ ...shapes, 'transformer.extra': [1] }),
    /not read: transformer\.extra/,
  )
})
