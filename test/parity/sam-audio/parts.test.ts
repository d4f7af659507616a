/** What the reference's tensors don't show of the judge, of spans and of tokens. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { loadJudge } from '../../../models/sam-audio/judge/judge.ts'
import { anchorTokens } from '../../../models/sam-audio/spans/anchors.ts'
import { findSpans } from '../../../models/sam-audio/spans/find-spans.ts'
import { TextTokenizer } from '../../../models/text/tokenizer.ts'
import { assertClose } from '../../support/basics/assert-close.ts'
import { fc } from '../../support/basics/property.ts'
import { fixtureFolder } from '../../support/models/open-model.ts'
import { FIXTURES } from '../../support/models/tiny-sam-audio.ts'
import { Reference } from '../../support/parity/reference.ts'

test("scores have names, in the reference's order", async () => {
  const golden = (await Reference.open(FIXTURES)).golden('judge.safetensors')
  const [mixture, separated] = ['input_audio.0', 'separated_audio.0'].map((name) =>
    Float32Array.from(golden.values(name)),
  )
  const prompt = 'a dog barking loudly in the distance'
  const { judge } = await loadJudge(`${FIXTURES}/judge-tiny`)
  const [scores] = judge([{ mixture: mixture!, separated: separated!, prompt }])
  const { overall, recall, precision, faithfulness } = scores!
  assertClose([overall, recall, precision, faithfulness], golden.values('scores_item0_alone'), {
    absolute: golden.tolerance('scores_item0_alone'),
  })
})

test('spans are exactly the runs of scores above the threshold', () => {
  const scores = fc.array(fc.constantFrom(0, 0.3, 0.31, 1, Number.NaN), { maxLength: 40 })
  fc.assert(
    fc.property(scores, (row) => {
      const clock = { sampleRate: 8, hop: 1 } // float32 holds its times exactly
      const spans = findSpans(row, clock)
      const covered = row.map((_, frame) =>
        spans.some(({ start, end }) => start * 8 <= frame && frame < end * 8),
      )
      assert.deepEqual(
        covered,
        row.map((score) => score > 0.3),
      )
      for (const [i, { start, end, include }] of spans.entries()) {
        assert.ok(include && end > start && start > (spans[i - 1]?.end ?? -1))
      }
    }),
  )
})

test('a span before the beginning is refused', () => {
  const spans = [{ start: -1, end: 1, include: true }]
  assert.throws(() => anchorTokens(spans, 10, { sampleRate: 48_000, hop: 1_920 }), /begins at 0 s/)
})

test('odd texts give the same tokens as the tokenizers library', async () => {
  const file = `${fixtureFolder('parity')}/odd-texts.json`
  const { cases } = JSON.parse(readFileSync(file, 'utf8')) as {
    cases: { text: string; t5: number[]; bpe: number[] }[]
  }
  for (const [name, folder] of [
    ['t5', 't5-tiny'],
    ['bpe', 'judge-tiny'],
  ] as const) {
    const tokenizer = await TextTokenizer.load(`${FIXTURES}/${folder}`, 512)
    for (const each of cases) {
      assert.deepEqual(tokenizer.tokens(each.text), each[name], JSON.stringify(each.text))
    }
  }
})
