/** Tags of a source in the output files, written and read by FFmpeg itself. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openMixture } from '../../../../engine/media/read/decode.ts'
import { createEncoder, type EncoderOptions } from '../../../../engine/media/write/encode.ts'
import { TAG_CHARACTERS_MAX, type Tags } from '../../../../engine/media/read/tags.ts'
import { noise } from '../../../support/media/signals.ts'
import { mediaFolder, NO_LIMITS } from './read-sound.ts'

const RATE = 44_100
const planes = [noise(0.2, RATE)]
const folder = mediaFolder()

const TAGS: Tags = {
  title: 'Trüb & 夜',
  artist: 'A. N. Other',
  album: 'Songs',
  album_artist: 'Various',
  composer: 'C. O. Mposer',
  genre: 'Jazz',
  date: '1999',
  track: '3',
  comment: 'from tape',
  copyright: 'CC0',
}

async function tagsIn(path: string): Promise<Tags> {
  const mixture = await openMixture(path, NO_LIMITS)
  await mixture.close()
  return mixture.tags
}

async function writeAndReadTags(format: EncoderOptions['format'], tags: Tags): Promise<Tags> {
  const path = await folder.save(`out.${format}`, Buffer.alloc(0)) // a placeholder
  const encoder = await createEncoder(path, { format, sampleRate: RATE, channels: 1, tags })
  await encoder.write(planes)
  await encoder.finish()
  return tagsIn(path)
}

test('mp3, flac and m4a have all of them', async () => {
  for (const format of ['mp3', 'flac', 'aac'] as const) {
    assert.deepEqual(await writeAndReadTags(format, TAGS), TAGS, format)
  }
})

test('wav has those that RIFF has names for', async () => {
  const { album_artist, composer, ...supported } = TAGS
  assert.deepEqual(await writeAndReadTags('wav', supported), supported)
})

test('a file without tags has none', async () => {
  for (const format of ['wav', 'mp3', 'flac', 'aac'] as const) {
    assert.deepEqual(await writeAndReadTags(format, {}), {})
  }
})

const CASES = [
  ['mp3', 'libmp3lame'],
  ['flac', 'flac'],
  ['ogg', 'libvorbis'],
  ['mov', 'aac'],
  ['wav', 'pcm_s16le'],
  ['matroska', 'aac'],
] as const

for (const [container, encoder] of CASES) {
  test(`${container}: its tags are read, and no others`, async () => {
    const tags = { title: 'Song', artist: 'Someone', mood: 'x' }
    const audio = { planes, sampleRate: RATE, encoder }
    const path = await folder.make(`in.${container}`, container, { audio, tags })
    assert.deepEqual(await tagsIn(path), { title: 'Song', artist: 'Someone' })
  })
}

test('a tag of megabytes is cut, and control characters become spaces', async () => {
  const path = await folder.make('long.flac', 'flac', {
    audio: { planes, sampleRate: RATE, encoder: 'flac' },
    tags: { title: `ab\r\nc`, comment: '夜'.repeat(1_000_000) },
  })
  const tags = await tagsIn(path)
  assert.equal(tags.title, 'ab c')
  assert.equal(tags.comment, '夜'.repeat(TAG_CHARACTERS_MAX))
  assert.deepEqual(await writeAndReadTags('mp3', tags), tags)
})
