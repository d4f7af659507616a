import assert from 'node:assert/strict'
import test from 'node:test'
import { promptsOf, songStemsOf, TASKS } from '../../../shared/tasks.ts'

const HTDEMUCS = { stems: ['drums', 'bass', 'other', 'vocals'] }
const SPLEETER = { stems: ['vocals', 'accompaniment'] }
const FILM = { stems: ['speech', 'music', 'sfx'] }
const MINI = { stems: [], names: ['Bass', 'drum kit', 'singing', 'dog'] }

test('a song is split into the stems of all models, and no stem holds what others have', () => {
  assert.deepEqual(songStemsOf([HTDEMUCS, SPLEETER, MINI]), HTDEMUCS.stems)
  assert.deepEqual(songStemsOf([SPLEETER, MINI]), SPLEETER.stems)
})

test('stems of a film are not stems of a song', () => {
  assert.deepEqual(songStemsOf([FILM, SPLEETER, MINI]), SPLEETER.stems)
  assert.deepEqual(songStemsOf([FILM, MINI]), [])
})

test('without a model for songs it is split into sounds that other models know', () => {
  const song = TASKS.find(({ word }) => word === 'song')!
  assert.deepEqual(promptsOf(song, [FILM, MINI]), ['drum kit', 'bass', 'singing'])
})
