import assert from 'node:assert/strict'
import test from 'node:test'
import { CATALOGUE } from '../../../../engine/installing/catalogue.ts'
import { isSongHintFor, SONG_HINT } from '../../../../shared/prompts/song-hint.ts'

test('the hint appears for song stems that mini or Spleeter answers, in any words', () => {
  for (const prompt of ['vocals', 'karaoke', 'no drums', 'drums and bass', 'Gesang']) {
    for (const model of ['mini', 'spleeter']) assert.ok(isSongHintFor(prompt, model), prompt)
  }
  for (const prompt of ['a dog barking', 'piano', 'speech', 'kick drum', 'vocals and a dog']) {
    assert.ok(!isSongHintFor(prompt, 'mini'), prompt)
  }
})

test('if another model answers, a better one is already installed', () => {
  for (const model of ['scnet', 'scnet-large', 'htdemucs', 'sam-audio', undefined]) {
    assert.ok(!isSongHintFor('vocals', model), model)
  }
})

const [, name, megabytes, licence] = /fetch (\S+)` \((\d+) MB, (.*)\)$/.exec(SONG_HINT)!
const entry = CATALOGUE.find((each) => each.name === name)
const skip = entry === undefined && 'the catalogue does not have the model yet'

test('the hint says what the catalogue says about the model', { skip }, () => {
  assert.equal(entry!.megabytes, Number(megabytes))
  assert.equal(entry!.licence.word, licence)
})
