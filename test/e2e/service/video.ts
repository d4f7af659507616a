/** A video gives videos: the same picture over the target or the residual, in sync. */

import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'node:test'
import { makeMedia } from '../../support/media/make-media.ts'
import { noise } from '../../support/media/signals.ts'
import { readWav24, wavBytes } from '../../support/media/wav.ts'
import { clickedChirp, clickOf, readVideo } from '../../support/media/read-video.ts'
import { downloadResult, separateFile } from '../../support/processes/start-winnow.ts'
import { winnow } from './winnow.ts'
import { assertAlike, assertNear, readSound } from '../../integration/engine/media/read-sound.ts'

const RATE = 44_100
const SECONDS = 4
const FLASH_FRAME = 17

const videos = [
  { name: 'clip.mp4', container: 'mp4', type: 'video/mp4', video: 'libx264', audio: 'aac' },
  {
    name: 'clip.mov',
    container: 'mov',
    type: 'video/quicktime',
    video: 'mpeg4',
    audio: 'pcm_s16le',
  },
  {
    name: 'clip.webm',
    container: 'webm',
    type: 'video/webm',
    video: 'libvpx',
    audio: 'libopus',
    recoded: true,
  },
]

for (const { name, container, type, video, audio, recoded } of videos) {
  test(`${name}: video_url has its picture, ${recoded ? 're-encoded' : 'bit by bit'}, in sync`, async () => {
    const path = join(winnow.folder, name)
    const sampleRate = audio === 'libopus' ? 48_000 : RATE
    const sound = clickedChirp(SECONDS, sampleRate, FLASH_FRAME / 10)
    await makeMedia(path, container, {
      audio: { planes: [sound, sound.map((x) => -0.5 * x)], sampleRate, encoder: audio },
      video: { seconds: SECONDS, encoder: video, flashes: [FLASH_FRAME] },
    })
    const { submitted, last } = await separateFile(winnow, path, { prompt: 'a whistle' }, type)
    assert.equal(last.status, 'COMPLETED', JSON.stringify(last.error))
    assert.match(
      JSON.stringify(last.logs),
      recoded ? /re-encoded as h264/ : /copied into the videos/,
    )
    const { result, ...files } = await downloadResult(winnow, submitted)
    const source = await readVideo(path)
    const mixture = await readSound(path)
    for (const part of ['target', 'residual'] as const) {
      const file = join(winnow.folder, `${name}-${part}.mp4`)
      const label = part === 'target' ? 'a-whistle' : 'rest.without-a-whistle'
      await writeFile(file, await download(result.data[part].video_url, `clip.${label}.mp4`))
      const picture = await readVideo(file)
      if (!recoded) assert.deepEqual(picture.pictures, source.pictures)
      assert.equal(picture.times.length, source.times.length)
      picture.times.forEach((time, i) => assertNear(time, source.times[i]!, 0.002))
      const wav = readWav24(files[part])
      const decoded = await readSound(file)
      assert.equal(decoded.mixture.codec, 'aac')
      assert.equal(decoded.mixture.sampleRate, wav.sampleRate)
      assert.equal(decoded.planes.length, wav.planes.length)
      assertNear(decoded.planes[0]!.length, wav.planes[0]!.length, 1024)
      for (const [c, plane] of wav.planes.entries()) assertAlike(decoded.planes[c]!, plane, 0.95)
    }
    const [target, residual] = await Promise.all(
      ['target', 'residual'].map((part) => readSound(join(winnow.folder, `${name}-${part}.mp4`))),
    )
    const sum = target!.planes[0]!.map((x, i) => x + residual!.planes[0]![i]!)
    assertAlike(sum, mixture.planes[0]!, 0.95)
    assertNear(clickOf(sum, sampleRate), source.flash, 0.01)
  })
}

/** Downloads a video, whole and by range, and checks its headers. */
async function download(url: string | undefined, fileName: string): Promise<Buffer> {
  assert.notEqual(url, undefined, 'there is a video_url')
  const reply = await fetch(url!)
  assert.equal(reply.status, 200)
  assert.equal(reply.headers.get('content-type'), 'video/mp4')
  assert.equal(reply.headers.get('content-disposition'), `attachment; filename="${fileName}"`)
  const whole = Buffer.from(await reply.arrayBuffer())
  const part = await fetch(url!, { headers: { range: 'bytes=4-7' } })
  assert.equal(part.status, 206)
  assert.equal(await part.text(), 'ftyp')
  const forged = await fetch(url!.replace('_video', ''))
  assert.equal(forged.status, 403)
  return whole
}

test('sound without a video, with or without cover art, has no video_url', async () => {
  const plain = join(winnow.folder, 'plain.wav')
  await writeFile(plain, wavBytes([noise(1, RATE)], RATE))
  const cover = join(winnow.folder, 'cover.mp3')
  await makeMedia(cover, 'mp3', {
    audio: { planes: [noise(1, RATE)], sampleRate: RATE, encoder: 'libmp3lame' },
    video: { seconds: 1, encoder: 'mjpeg', isCoverArt: true },
  })
  for (const path of [plain, cover]) {
    const { submitted, last } = await separateFile(winnow, path, { prompt: 'noise' })
    assert.equal(last.status, 'COMPLETED', JSON.stringify(last.error))
    const { data } = await winnow.client.result(submitted)
    assert.deepEqual(Object.keys(data.target).sort(), ['content_type', 'file_name', 'url'])
  }
})

test('both outputs have the cover art of the source', async () => {
  const path = join(winnow.folder, 'song.flac')
  await makeMedia(path, 'flac', {
    audio: { planes: [noise(1, RATE)], sampleRate: RATE, encoder: 'flac' },
    video: { seconds: 1, encoder: 'mjpeg', isCoverArt: true },
    tags: { title: 'A song' },
  })
  const { cover } = (await readSound(path)).mixture
  assert.ok(cover)
  const options = { prompt: 'noise', output_format: 'mp3' } as const
  const { submitted } = await separateFile(winnow, path, options, 'audio/flac')
  const { target, residual } = await downloadResult(winnow, submitted)
  for (const [name, bytes] of Object.entries({ target, residual })) {
    const file = join(winnow.folder, `song-${name}.mp3`)
    await writeFile(file, bytes)
    const { mixture } = await readSound(file)
    assert.deepEqual([mixture.cover, mixture.tags], [cover, { title: 'A song' }], name)
  }
})

test('a video with mp3 output has both files, and its picture may end before its sound', async () => {
  const path = join(winnow.folder, 'short-picture.mp4')
  await makeMedia(path, 'mp4', {
    audio: { planes: [noise(3, RATE)], sampleRate: RATE, encoder: 'aac' },
    video: { seconds: 1, encoder: 'libx264' },
  })
  const { submitted } = await separateFile(
    winnow,
    path,
    { prompt: 'noise', output_format: 'mp3' },
    'video/mp4',
  )
  const { result } = await downloadResult(winnow, submitted)
  assert.equal(result.data.target.file_name, 'short-picture.without-speech.mp3')
  const file = join(winnow.folder, 'short-picture-out.mp4')
  await writeFile(
    file,
    await download(result.data.target.video_url, 'short-picture.without-speech.mp4'),
  )
  assertNear((await readSound(file)).planes[0]!.length, 3 * RATE, 1_100)
  assert.equal((await readVideo(file)).times.length, (await readVideo(path)).times.length)
})
