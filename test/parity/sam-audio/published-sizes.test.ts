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
  PUBLISHED_SIZES,
  PUBLISHED_WATERMARK,
  publishedSizes,
  type PublishedSize,
} from '../../support/models/published.ts'
import { randomWeights } from '../../support/models/random-weights.ts'
import { CHECKPOINT, CONFIG } from '../../support/models/tiny-sam-audio.ts'

/** The fixture's watermark, which the reference's own code made. */
const TINY_WATERMARK = { channels: 2, hiddenDim: 32, codeDim: 8, bits: 16, rates: [4, 3, 2, 2] }

test('the shapes for a configuration are those that the reference made for the fixture', async () => {
  const generated = checkpointShapes(await readConfig(CONFIG), TINY_WATERMARK)
  const stored = [...openTensors(CHECKPOINT)].filter(
    ([name]) => !name.startsWith('vision_encoder.'),
  )
  const sorted = (entries: [string, readonly number[]][]) =>
    entries.sort(([a], [b]) => (a < b ? -1 : 1))
  assert.deepEqual(
    sorted(Object.entries(generated)),
    sorted(stored.map(([name, { shape }]) => [name, shape])),
  )
})

/** Millions of parameters in the transformer, counted from the reference rather than by this code. */
const PARAMETERS: Record<PublishedSize, number> = { small: 219.8, base: 643.1, large: 2928.8 }

for (const size of PUBLISHED_SIZES) {
  test(`${size}: every tensor but the watermark's is read at its shape`, async () => {
    const config = publishedSizes(size)
    const shapes = checkpointShapes(config, PUBLISHED_WATERMARK)
    const transformer = Object.entries(shapes).filter(([name]) => name.startsWith('transformer.'))
    const millions = transformer.reduce((sum, [, shape]) => sum + countOf(shape), 0) / 1e6
    assert.equal(Number(millions.toFixed(1)), PARAMETERS[size])
    for (const precision of ['float32', 'bfloat16'] as const) {
      await withShapeBinding(async (memory) => {
        loadNetwork(randomWeights(shapes), config, precision) // throws if a tensor is missing or left unread
        const width = memory.inUse / 1e6 / millions
        assert.ok(precision === 'float32' ? width > 4 : width > 2, `${width} bytes a parameter`)
      })
    }
  })

  test(`${size}: an extra tensor, a missing one and one of another shape are named`, async () => {
    const config = publishedSizes(size)
    const shapes = checkpointShapes(config, PUBLISHED_WATERMARK)
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
}
