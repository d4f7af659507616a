import assert from 'node:assert/strict'
import { test } from 'node:test'
import { planSlices } from '../../../../../models/sam-audio/codec/slices.ts'

const CONTEXT = 14
const FRAMES = 1_500

const plans = (shortStep: number) =>
  Array.from({ length: FRAMES }, (_, i) => planSlices(i + 1, 128, CONTEXT, shortStep))

test('slices keep every frame once, each with its context', () => {
  for (const [i, slices] of plans(1).entries()) {
    const frames = i + 1
    let kept = 0
    for (const { from, to, start, end } of slices) {
      assert.equal(start, kept)
      assert.ok(end > start && end - start <= 128 + CONTEXT * 2, `${frames}: ${end - start} kept`)
      assert.ok(from >= 0 && to <= frames)
      assert.ok(from === 0 || start - from >= CONTEXT, `${frames}: context before ${start}`)
      assert.ok(to === frames || to - end >= CONTEXT, `${frames}: context after ${end}`)
      kept = end
    }
    assert.equal(kept, frames)
  }
})

test('slices have few different lengths, whatever the length of the row', () => {
  const lengths = (shortStep: number) =>
    new Set(plans(shortStep).flatMap((slices) => slices.map(({ from, to }) => to - from)))
  assert.ok(lengths(16).size <= 14, `${[...lengths(16)]}`)
  const long = plans(1).filter((slices) => slices.length > 1)
  for (const slices of long) assert.equal(new Set(slices.map(({ from, to }) => to - from)).size, 1)
})
