/** Runs the comparisons of `npm run winnow -- parity` with an open model's reference as tests. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { agrees } from '../parity/comparison.ts'
import { openComparable } from '../parity/comparable.ts'
import type { Weights } from '../../../models/checkpoint/weights.ts'
import { WARM_UP_CALLS } from '../../../models/graph/graph-cache.ts'
import { withShapeBinding } from '../../../models/memory/shape-binding.ts'
import { tf, type Tensor } from '../../../models/tensorflow/tensor.ts'
import { assertClose } from '../basics/assert-close.ts'
import { randomWeights, type Shapes } from './random-weights.ts'

export const fixtureFolder = (name: string): string =>
  fileURLToPath(new URL(`../../fixtures/${name}`, import.meta.url))

/**
 * Defines a test for each stage except those in `without`, whose files are not in the repository.
 */
export async function testStages(folder: string, without: readonly string[] = []): Promise<void> {
  const { stages } = await openComparable(folder)
  for (const [name, { missing, run }] of Object.entries(stages)) {
    if (without.includes(name)) continue
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
}

/** Reads the shapes of a published checkpoint's tensors, and the rest of its inventory. */
export function readInventory(folder: string, name: string) {
  const inventory = JSON.parse(readFileSync(join(folder, `${name}.inventory.json`), 'utf8'))
  const keys = inventory.keys as [name: string, shape: number[]][]
  const shapes: Shapes = Object.fromEntries(keys.map(([key, shape]) => [key, shape]))
  return { ...inventory, shapes } as { kwargs: Record<string, unknown>; shapes: Shapes }
}

/**
 * Defines a test that a network reads every tensor of a published checkpoint, at its shape.
 * @param folder that has the inventory of `name`
 */
export function testPublished(
  folder: string,
  name: string,
  load: (weights: Weights, kwargs: Record<string, unknown>) => void,
  shapesOf = (shapes: Shapes): Shapes => shapes,
): void {
  test(`${name}: every tensor of the published checkpoint is read at its shape`, () =>
    withShapeBinding(async () => {
      const { kwargs, shapes } = readInventory(folder, name)
      const weights = randomWeights(shapesOf(shapes))
      load(weights, kwargs)
      weights.assertAllRead()
    }))
}

/** Defines a test that each change of a configuration is refused with its message. */
export function testRefusals(
  cases: readonly (readonly [change: object, message: RegExp])[],
  readChanged: (change: object) => unknown,
): void {
  test('an unsupported configuration is refused by name', () => {
    for (const [change, message] of cases) assert.throws(() => readChanged(change), message)
  })
}

/**
 * Defines a test that runs a network as a graph on batches of three items [3, ...]: an item gets
 * the same result as alone and without a graph, and no tensor leaks.
 * @param absolute allowed difference between sums in a different order
 */
export function testGraph(
  batch: Tensor,
  separate: (batch: Tensor) => Tensor,
  absolute: number,
): void {
  test('as a graph, an item has the answer that it has alone, and nothing is leaked', () => {
    const valuesOf = (x: Tensor) => {
      const answer = separate(x)
      const values = answer.dataSync<'float32'>()
      answer.dispose()
      return values
    }
    const second = tf.slice(
      batch,
      [1, ...batch.shape.slice(1).map(() => 0)],
      [1, ...batch.shape.slice(1)],
    )
    const alone = valuesOf(second)
    const tensors = tf.memory().numTensors
    for (let call = 0; call < WARM_UP_CALLS; call += 1) valuesOf(batch)
    const together = valuesOf(batch)
    assert.equal(tf.memory().numTensors, tensors)
    assertClose(together.subarray(alone.length, 2 * alone.length), alone, { absolute })
  })
}
