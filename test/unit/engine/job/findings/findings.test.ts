import assert from 'node:assert/strict'
import test from 'node:test'
import {
  findingOf as findingOfSound,
  promptFinding,
  type SoundEvidence,
} from '../../../../../engine/job/findings/findings.ts'
import { findingText } from '../../../../../shared/finding-text.ts'
import { Finding } from '../../../../../shared/finding.ts'
import { decodeMessage, encodeMessage } from '../../../../../shared/messages.ts'
import { fc } from '../../../../support/basics/property.ts'

/** Without a tagger. */
const findingOf = (work: SoundEvidence['work']) => findingOfSound({ work, tagged: null })

const nothing = {
  match: undefined,
  presenceGain: undefined,
  meanings: undefined,
  understoodAs: undefined,
  substitute: undefined,
  nearest: undefined,
}
const piano = { ...nothing, understoodAs: 'piano', presenceGain: 1 }

test('without a tagger a sound is found if the odds of its chunks are even, on average', () => {
  const work = [
    { ...piano, match: 0.05, presenceGain: 0.05 },
    { ...piano, match: 0.9 },
  ]
  const odds = (1 / 19 + 9) / 2
  const { match, ...rest } = findingOf(work)
  assert.ok(Math.abs(match! - odds / (1 + odds)) < 1e-4)
  assert.deepEqual(rest, { understood_as: 'piano', state: 'found' })
})

test('otherwise it is unsure, and the finding says by how much the target was softened', () => {
  const soft = { ...piano, match: 0.05, presenceGain: 10 ** (-28 / 20) }
  const unsure = { understood_as: 'piano', state: 'unsure' }
  assert.deepEqual(findingOf([soft]), { ...unsure, match: 0.05, softened_db: 28 })
  const some = [soft, { ...piano, match: 0.3 }]
  assert.deepEqual(findingOf(some), { ...unsure, match: 0.1939, softened_db: 28 })
  assert.deepEqual(findingOf([{ ...piano, match: 0.3 }]), { ...unsure, match: 0.3, softened_db: 0 })
})

test('a longer file does not find more, because what is heard counts as a share of it', () => {
  const tagged = {
    ...{ state: 'unsure' as const, probability: 0.3, unasked: 0.1, evidence: -4 },
    combined: { matchSharpness: 0.5, tagger: 0.5, match: 0.5, offset: 1, found: 0.8, absent: -3 },
    ...{ relative: null, spans: [{ start: 0, end: 1 }], share: 0.2, seconds: 5 },
  }
  const stateOf = (...matches: number[]) => {
    const work = matches.map((match) => ({ ...piano, match }))
    return findingOfSound({ work, tagged }).state
  }
  const quiet = Array.from({ length: 7 }, () => 0.01)
  assert.equal(stateOf(0.99), 'found')
  assert.equal(stateOf(0.99, ...quiet), 'unsure')
  assert.equal(stateOf(...quiet), 'absent')
})

test('an unknown sound has what its target holds, and names to try', () => {
  const meanings = [{ name: 'woman', probability: 0.6 }]
  const unknown = { ...nothing, understoodAs: null, meanings, nearest: ['woman', 'man'] }
  const expected = { understood_as: null, state: 'unknown', softened_db: 0 }
  assert.deepEqual(findingOf([{ ...unknown, substitute: 'everything but speech' }]), {
    ...expected,
    holds: 'everything but speech',
    nearest: ['woman', 'man'],
  })
  assert.deepEqual(findingOf([unknown]), { ...expected, holds: 'woman', nearest: ['woman', 'man'] })
})

test('a model that reports nothing has no finding', () => {
  assert.deepEqual(findingOf([nothing]), {})
})

test('whatever a model says fits in a message', () => {
  const share = fc.double({ min: 0, max: 1, noNaN: true })
  const chunk = fc.record({
    match: fc.option(share, { nil: undefined }),
    presenceGain: fc.option(share, { nil: undefined }),
    meanings: fc.constant(undefined),
    understoodAs: fc.constantFrom(null, undefined, 'piano'),
    substitute: fc.constantFrom(undefined, 'everything but speech'),
    nearest: fc.option(fc.array(fc.string(), { maxLength: 20 }), { nil: undefined }),
  })
  fc.assert(
    fc.property(fc.array(chunk, { minLength: 1, maxLength: 4 }), (work) => {
      const finding = findingOf(work)
      assert.deepEqual(decodeMessage(Finding, encodeMessage(finding as never)), finding)
    }),
    { numRuns: 200 },
  )
})

test('the least sure of several sounds decides, and each has its state', () => {
  const sound = (prompt: string, isUnwanted: boolean, more: object) => ({
    ...{ prompt, isUnwanted, tagged: null },
    work: [{ ...nothing, understoodAs: prompt, ...more }],
  })
  const asked = (...sounds: string[]) =>
    sounds.map((name) => ({ sound: name.replace('-', ''), excluded: name.startsWith('-') }))
  const both = promptFinding(
    [sound('speech', false, { match: 0.9 }), sound('piano', false, { match: 0.2 })],
    asked('speech', 'piano'),
  )
  assert.deepEqual(
    [both.state, both.match, both.understood_as],
    ['unsure', 0.2, 'speech and piano'],
  )
  assert.deepEqual(
    both.asked!.map(({ state }) => state),
    ['found', 'unsure'],
  )
  assert.equal(
    findingText('speech and piano', both),
    'The speech and the piano; the speech was found, but the piano may be absent.',
  )
  const lost = promptFinding(
    [sound('drums', true, { match: 0.9 }), sound('kettle', true, { understoodAs: null })],
    asked('-drums', '-kettle'),
  )
  assert.deepEqual([lost.state, lost.holds], ['unknown', 'everything but drums'])
  assert.match(
    findingText('no drums and no kettle', lost)!,
    RegExp(
      '^Everything but the drums and the kettle; the drums were found \\(match 90 %\\)\\. ' +
        'The model does not know "kettle"\\. The target holds everything but drums\\. ',
    ),
  )
})

test('quality is judged over all chunks, for wanted sounds that may be there', () => {
  const chunk = (sound: number, others: number) => ({
    ...piano,
    match: 0.9,
    expected: { sound, others },
  })
  const asked = [{ sound: 'piano', excluded: false }]
  const qualityOf = (work: SoundEvidence['work'], isUnwanted = false) =>
    promptFinding([{ prompt: 'piano', isUnwanted, work, tagged: null }], asked).quality
  assert.equal(qualityOf([chunk(16, 1)]), 'good')
  assert.equal(qualityOf([chunk(15, 1)]), 'fair')
  assert.equal(qualityOf([chunk(15, 1), chunk(1, 4)]), 'poor')
  assert.equal(qualityOf([chunk(1, 0)]), 'good', 'nothing else')
  assert.equal(qualityOf([chunk(0, 0)]), undefined, 'silence')
  assert.equal(qualityOf([{ ...piano, match: 0.9 }]), undefined, 'a model without an estimate')
  assert.equal(qualityOf([{ ...chunk(16, 1), understoodAs: null }]), undefined, 'not known')
  assert.equal(qualityOf([chunk(16, 1)], true), undefined, 'the rest')
})
