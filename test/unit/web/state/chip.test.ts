import assert from 'node:assert/strict'
import test from 'node:test'
import { chipText, explain, whereText } from '../../../../web/state/chip.ts'

const finding = { prompt: 'violin', message: '' }

test('the place of a sound shows three spans, and its share', () => {
  const where = [3, 10, 65, 3_600].map((start) => ({ start, end: start + 4 }))
  assert.equal(whereText({ where: where.slice(0, 1), share: 0.12 }), '0:03–0:07, 12 % of the file')
  assert.equal(
    whereText({ where, share: 0.001 }),
    '0:03–0:07, 0:10–0:14, 1:05–1:09, 1 more, less than 1 % of the file',
  )
  assert.equal(whereText({ where: [], share: 0 }), '')
})

test('each state has its words, and sounds that were not found ask to be heard first', () => {
  const softer = { softened_db: 27.6, match: 0.2 }
  const texts = [
    [{ ...finding, state: 'found', match: 0.97 }, 'found'],
    [
      { ...finding, ...softer, state: 'similar', similar_to: 'flute' },
      'only similar, like flute, softer by 28 dB',
    ],
    [{ ...finding, ...softer, state: 'unsure' }, 'unsure, softer by 28 dB'],
    [{ ...finding, ...softer, state: 'absent' }, 'probably not there, softer by 28 dB'],
    [{ ...finding, state: 'unknown', holds: 'speech' }, 'not known: this is speech'],
  ] as const
  for (const [one, text] of texts) {
    assert.equal(chipText(one), text)
    const isToHear = explain(one).includes('Listen before you use it.')
    assert.equal(isToHear, one.state !== 'found', one.state)
  }
})

test('quality is shown next to the state, and a poor one asks to be heard first', () => {
  const found = { ...finding, state: 'found' } as const
  assert.deepEqual(explain({ ...found, quality: 'good' }), [
    'What the target holds is probably clean.',
  ])
  assert.equal(explain({ ...found, quality: 'poor' }).at(-1), 'Listen before you use it.')
})
