/** The comparisons of `npm run parity` with an open model's reference, as tests. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { agrees } from '../../scripts/parity/comparison.ts'
import { openComparable } from '../../scripts/parity/comparable.ts'
import type { Shapes } from '../support/random-weights.ts'

export const fixtureFolder = (name: string): string =>
  fileURLToPath(new URL(`../fixtures/${name}`, import.meta.url))

/** One test of each stage. */
export async function testStages(folder: string): Promise<void> {
  const { stages } = await openComparable(folder)
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
}

/** Every tensor of a published checkpoint, with the rest of its inventory. */
export function readInventory(folder: string, name: string) {
  const inventory = JSON.parse(readFileSync(join(folder, `${name}.inventory.json`), 'utf8'))
  const keys = inventory.keys as [name: string, shape: number[]][]
  const shapes: Shapes = Object.fromEntries(keys.map(([key, shape]) => [key, shape]))
  return { ...inventory, shapes } as { kwargs: Record<string, unknown>; shapes: Shapes }
}
