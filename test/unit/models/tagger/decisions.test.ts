/** The tagger's rules give the same decisions as in training (`golden_decisions`). */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import test from 'node:test'
import { FileTags, groupLogits, type TaggerRules } from '../../../../models/tagger/decisions.ts'

const file = new URL('../../../fixtures/parity/tagger/decisions.json', import.meta.url)
const golden = JSON.parse(readFileSync(file, 'utf8'))
const { relatives, members, cases } = golden
const { goes_on: goesOn, gap_steps: gapSteps, ...rest } = golden.rules
const rules: TaggerRules = { ...rest, goesOn, gapSteps }
const LOGIT_MOST = 8

const near = (actual: number, expected: number) =>
  assert.ok(Math.abs(actual - expected) < 1e-6, `${actual}, not ${expected}`)

for (const [i, { logits: rows, answers, groups }] of cases.entries()) {
  const logits = { values: Float64Array.from(rows.flat() as number[]), width: rows[0].length }

  test(`case ${i + 1}: states, evidence and spans of ${rows.length} steps agree`, () => {
    const tags = new FileTags(logits, relatives, rules)
    for (const [place, expected] of answers.entries()) {
      const answer = tags.answer(place)
      near(answer.evidence, expected.evidence)
      near(answer.share, expected.share)
      assert.deepEqual(
        { state: answer.state, similarTo: answer.similarTo, spans: answer.spans },
        {
          state: expected.state,
          similarTo: expected.similar_to,
          spans: expected.spans.map(([start, end]: [number, number]) => ({ start, end })),
        },
      )
    }
  })

  test(`case ${i + 1}: groups agree`, () => {
    const { values } = groupLogits(logits, members, LOGIT_MOST)
    for (const [k, expected] of groups.flat().entries()) near(values[k]!, expected)
  })
}
