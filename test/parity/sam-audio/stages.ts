/** The comparisons of `npm run winnow -- parity`, as tests. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { agrees } from '../../support/parity/comparison.ts'
import { Reference } from '../../support/parity/reference.ts'
import { missingFor, runStage, STAGES } from '../../support/parity/stages.ts'

const FOLDER = fileURLToPath(new URL('../../fixtures/sam-audio', import.meta.url))

export const reference = await Reference.open(FOLDER)

/** Adds a test of everything that the stage compares with the reference. */
export function testStage(name: string): void {
  test(`${name}: everything is within what the manifest allows`, async () => {
    const stage = STAGES[name]!
    assert.deepEqual(missingFor(stage, reference), [])
    const comparisons = await runStage(stage, reference)
    assert.equal(comparisons.length > 0, true, 'nothing was compared')
    assert.deepEqual(
      comparisons.filter((comparison) => !agrees(comparison)),
      [],
    )
  })
}
