/** Tags and cover art of a source in the output files, written and read by FFmpeg itself. */

import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { openMixture } from '../../../../engine/media/read/decode.ts'
import { createEncoder, type EncoderOptions } from '../../../../engine/media/write/encode.ts'
import { COVER_BYTES_MAX, type Cover } from '../../../../engine/media/read/cover.ts'
import { TAG_CHARACTERS_MAX, type Tags } from '../../../../engine/media/read/tags.ts'
import { noise } from '../../../support/media/signals.ts'
import { mediaFolder, NO_LIMITS, readSound } from './read-sound.ts'

const RATE = 44_100
const planes = [noise(0.2, RATE)]
const { save, make } = mediaFolder()

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

/** Writes sound with tags or a cover; returns the path. */
async function write(
  format: EncoderOptions['format'],
  more: Pick<EncoderOptions, 'tags' | 'cover'>,
): Promise<string> {
  const path = await save(`out.${format}`, Buffer.alloc(0)) // a placeholder
  const encoder = await createEncoder(path, { format, sampleRate: RATE, channels: 1, ...more })
  await encoder.write(planes)
  await encoder.finish()
  return path
}

const writeAndReadTags = async (format: EncoderOptions['format'], tags: Tags): Promise<Tags> =>
  tagsIn(await write(format, { tags }))

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
    const path = await make(`in.${container}`, container, { audio, tags })
    assert.deepEqual(await tagsIn(path), { title: 'Song', artist: 'Someone' })
  })
}

test('a tag of megabytes is cut, and control characters become spaces', async () => {
  const path = await make('long.flac', 'flac', {
    audio: { planes, sampleRate: RATE, encoder: 'flac' },
    tags: { title: `ab\r\nc`, comment: '夜'.repeat(1_000_000) },
  })
  const tags = await tagsIn(path)
  assert.equal(tags.title, 'ab c')
  assert.equal(tags.comment, '夜'.repeat(TAG_CHARACTERS_MAX))
  assert.deepEqual(await writeAndReadTags('mp3', tags), tags)
})

async function coverIn(path: string): Promise<Cover | null> {
  const mixture = await openMixture(path, NO_LIMITS)
  await mixture.close()
  return mixture.cover
}

/** Makes a file with a picture made by FFmpeg. */
const makeWithCover = (container: string, encoder: string, picture: string): Promise<string> =>
  make(`in-${picture}.${container}`, container, {
    audio: { planes, sampleRate: RATE, encoder },
    video: { seconds: 0, encoder: picture, isCoverArt: true },
  })

for (const [container, encoder, picture] of [
  ['mp3', 'libmp3lame', 'mjpeg'],
  ['flac', 'flac', 'mjpeg'],
  ['ipod', 'aac', 'mjpeg'],
  ['mp3', 'libmp3lame', 'png'],
  ['flac', 'flac', 'png'],
] as const) {
  test(`the ${picture} of ${container} ends up in mp3 and flac, byte for byte`, async () => {
    const cover = await coverIn(await makeWithCover(container, encoder, picture))
    const { bytes: _, ...facts } = cover!
    assert.deepEqual(facts, { kind: picture === 'png' ? 'png' : 'jpeg', width: 64, height: 48 })
    for (const format of ['mp3', 'flac'] as const) {
      const path = await write(format, { tags: { title: 'Song' }, cover })
      const { mixture, planes: read } = await readSound(path)
      assert.deepEqual(mixture.cover, cover, format)
      assert.deepEqual(mixture.tags, { title: 'Song' }, format)
      assert.equal(mixture.hasVideo, false, format)
      assert.equal(read[0]!.length, 0.2 * RATE, format)
      assert.ok((await readFile(path)).includes(Buffer.from(cover!.bytes)), format)
    }
  })
}

test('wav has no place for one', async () => {
  const cover = await coverIn(await makeWithCover('flac', 'flac', 'mjpeg'))
  assert.ok(cover)
  assert.equal(await coverIn(await write('wav', { cover })), null)
})

test('a source without a picture has outputs without one', async () => {
  for (const format of ['mp3', 'flac'] as const) {
    assert.equal(await coverIn(await write(format, {})), null)
  }
})

test('a picture beyond the limit or of another kind is left out', async () => {
  const jpeg = (await coverIn(await makeWithCover('flac', 'flac', 'mjpeg')))!
  const largest = { ...jpeg, bytes: Buffer.concat([jpeg.bytes], COVER_BYTES_MAX) }
  assert.equal(
    (await coverIn(await write('flac', { cover: largest })))?.bytes.length,
    COVER_BYTES_MAX,
  )
  const larger = { ...jpeg, bytes: Buffer.concat([jpeg.bytes], COVER_BYTES_MAX + 1) }
  assert.equal(await coverIn(await write('flac', { cover: larger })), null)
  const noPicture = { ...jpeg, bytes: Buffer.from('<svg onload="alert(1)"/>') }
  assert.equal(await coverIn(await write('flac', { cover: noPicture })), null)
})
