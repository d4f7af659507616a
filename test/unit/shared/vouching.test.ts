import assert from 'node:assert/strict'
import test from 'node:test'
import { vouchingsOf } from '../../../shared/vouching.ts'

const heedsSpans = (separator: string | undefined) => separator !== 'spleeter'
const softer = { state: 'unsure', softened_db: 28 } as const
const found = { prompt: 'piano', state: 'found' } as const
const siren = { prompt: 'siren', ...softer, asked: [{ sound: 'siren', excluded: false }] }
const noDrums = {
  prompt: 'no drums',
  state: 'unsure',
  asked: [{ sound: 'drum kit', excluded: true, state: 'unsure' }],
} as const

const offersFor = (
  keeps: 'target' | 'residual',
  ...findings: Parameters<typeof vouchingsOf>[0]['findings']
) => vouchingsOf({ findings, prompts: findings.map(({ prompt }) => prompt), keeps, heedsSpans })

test('each kept target that was softened is offered alone, at its full level', () => {
  assert.deepEqual(offersFor('target', found, siren), [
    { does: 'keep', sounds: ['siren'], prompts: ['siren'], softenedDb: 28 },
  ])
  assert.deepEqual(offersFor('target', { ...siren, softened_db: 0 }), [], 'its level is whole')
})

test('sounds to take out are offered in one request for all their prompts', () => {
  assert.deepEqual(offersFor('target', found, noDrums), [
    { does: 'take out', sounds: ['drum kit'], prompts: ['no drums'], softenedDb: 0 },
  ])
  const whole = { ...siren, softened_db: 0 }
  assert.deepEqual(offersFor('residual', found, whole, { ...whole, prompt: 'hum' }), [
    {
      does: 'take out',
      sounds: ['siren', 'hum'],
      prompts: ['piano', 'siren', 'hum'],
      softenedDb: 0,
    },
  ])
})

test('requests that would change nothing are not offered', () => {
  const stems = { ...noDrums, separator: 'spleeter' }
  const unknown = { prompt: 'lawn mower', state: 'unknown', softened_db: 3 } as const
  for (const keeps of ['target', 'residual'] as const) {
    assert.deepEqual(offersFor(keeps, found, stems, unknown), [], keeps)
  }
  const asked = [
    { sound: 'speech', excluded: false, state: 'unsure' },
    { sound: 'siren', excluded: true, state: 'found' },
  ] as const
  const part = { prompt: 'speech without the siren', state: 'unsure', asked: [...asked] } as const
  assert.deepEqual(offersFor('target', part), [], 'what is to be taken out was found')
})
