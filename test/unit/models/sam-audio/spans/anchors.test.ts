/**
 * Spans become exactly the anchors that the reference's processor makes: `golden/processor.json`.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { anchorTokens } from '../../../../../models/sam-audio/spans/anchors.ts'

interface Case {
  label: string
  hop_length: number
  sample_rate: number
  anchors: [token: string, start: number, end: number][][] | null
  sizes: number[]
  anchor_ids: number[][]
  anchor_alignment: number[][]
}

const file = new URL('../../../../fixtures/sam-audio/golden/processor.json', import.meta.url)
const { cases } = JSON.parse(readFileSync(file, 'utf8')) as { cases: Case[] }

for (const {
  label,
  hop_length: hop,
  sample_rate: sampleRate,
  anchors,
  sizes,
  ...golden
} of cases) {
  test(label, () => {
    for (const [row, frames] of sizes.entries()) {
      const spans = (anchors?.[row] ?? []).map(([token, start, end]) => ({
        start,
        end,
        include: token === '+',
      }))
      const ids = golden.anchor_ids[row]!
      const expected = golden.anchor_alignment[row]!.slice(0, frames).map((place) => ids[place])
      assert.deepEqual([...anchorTokens(spans, frames, { sampleRate, hop })], expected)
    }
  })
}

test('a span before the beginning is refused', () => {
  const spans = [{ start: -1, end: 1, include: true }]
  assert.throws(() => anchorTokens(spans, 10, { sampleRate: 48_000, hop: 1_920 }), /begins at 0 s/)
})
