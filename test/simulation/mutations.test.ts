/** Plants known bugs one by one: the simulation must find each of them. */

import assert from 'node:assert/strict'
import test from 'node:test'
import { MUTATIONS, planted } from './mutations.ts'
import { shrink } from './shrink.ts'

const SEEDS = Array.from({ length: 60 }, (_, i) => i + 1)

for (const mutation of MUTATIONS) {
  test(`the simulation finds a planted bug: ${mutation.name}`, async (t) => {
    const { run } = await planted(mutation)
    for (const seed of [mutation.seed ?? 1, ...SEEDS]) {
      const { violation, faults } = await run({ seed })
      if (!violation) continue
      t.diagnostic(`seed ${seed}, ${faults.length} faults: ${violation.message}`)
      return
    }
    assert.fail(`no seed up to ${SEEDS.length} found it`)
  })
}

test('a failing history shrinks to the one submit that it needs', async () => {
  const { run } = await planted(MUTATIONS.find(({ name }) => name === 'forget the outbox row')!)
  const failing = await run({ seed: 1 })
  const needed = await shrink(run, failing)
  assert.equal(needed.length, 1, 'one submit shows it')
  assert.match(needed[0]!, /^action \d+: submit$/)
})
