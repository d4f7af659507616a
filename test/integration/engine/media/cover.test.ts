/** Cover art of a source in the output files, written and read by FFmpeg itself. */

import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { COVER_BYTES_MAX, type Cover } from '../../../../engine/media/read/cover.ts'
import { openMixture } from '../../../../engine/media/read/decode.ts'
import { createEncoder, type EncoderOptions } from '../../../../engine/media/write/encode.ts'
import { noise } from '../../../support/media/signals.ts'
import { mediaFolder, NO_LIMITS, readSound } from './read-sound.ts'

const RATE = 44_100
const SECONDS = 0.2
const planes = [noise(SECONDS, RATE)]
const folder = mediaFolder()

async function coverIn(path: string): Promise<Cover | null> {
  const mixture = await openMixture(path, NO_LIMITS)
  await mixture.close()
  return mixture.cover
}

/** Makes a file with a picture made by FFmpeg. */
const makeWithCover = (container: string, encoder: string, picture: string): Promise<string> =>
  folder.make(`in-${picture}.${container}`, container, {
    audio: { planes, sampleRate: RATE, encoder },
    video: { seconds: 0, encoder: picture, isCoverArt: true },
  })

async function writeWithCover(
  format: EncoderOptions['format'],
  cover: Cover | null,
): Promise<string> {
  const path = await folder.save(`out.${format}`, Buffer.alloc(0)) // a placeholder
  const options = { format, sampleRate: RATE, channels: 1, tags: { title: 'Song' }, cover }
  const encoder = await createEncoder(path, options)
  await encoder.write(planes)
  await encoder.finish()
  return path
}

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
      const path = await writeWithCover(format, cover)
      const { mixture, planes: read } = await readSound(path)
      assert.deepEqual(mixture.cover, cover, format)
      assert.deepEqual(mixture.tags, { title: 'Song' }, format)
      assert.equal(mixture.hasVideo, false, format)
      assert.equal(read[0]!.length, SECONDS * RATE, format)
      assert.ok((await readFile(path)).includes(Buffer.from(cover!.bytes)), format)
    }
  })
}

test('wav has no place for one', async () => {
  const cover = await coverIn(await makeWithCover('flac', 'flac', 'mjpeg'))
  assert.ok(cover)
  assert.equal(await coverIn(await writeWithCover('wav', cover)), null)
})

test('a source without a picture has outputs without one', async () => {
  for (const format of ['mp3', 'flac'] as const) {
    assert.equal(await coverIn(await writeWithCover(format, null)), null)
  }
})

test('a picture beyond the limit or of another kind is left out', async () => {
  const jpeg = (await coverIn(await makeWithCover('flac', 'flac', 'mjpeg')))!
  const largest = { ...jpeg, bytes: Buffer.concat([jpeg.bytes], COVER_BYTES_MAX) }
  assert.equal(
    (await coverIn(await writeWithCover('flac', largest)))?.bytes.length,
    COVER_BYTES_MAX,
  )
  const larger = { ...jpeg, bytes: Buffer.concat([jpeg.bytes], COVER_BYTES_MAX + 1) }
  assert.equal(await coverIn(await writeWithCover('flac', larger)), null)
  const noPicture = { ...jpeg, bytes: Buffer.from('<svg onload="alert(1)"/>') }
  assert.equal(await coverIn(await writeWithCover('flac', noPicture)), null)
})
