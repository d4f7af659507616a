import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { type AudioTrack, type VideoTrack } from '../../../support/media/make-media.ts'
import { clickedChirp, clickOf, readVideo } from '../../../support/media/read-video.ts'
import {
  assertAlike,
  assertBetween,
  assertNear,
  makeOutputVideo,
  mediaFolder,
  readSound,
} from './read-sound.ts'

const { make } = mediaFolder()

const RATE = 48_000
const SECONDS = 3
/** The flash is frame 12, at 10 frames per second, and a click sounds at the same time. */
const FLASH_FRAME = 12
const CLICK_SECONDS = FLASH_FRAME / 10

interface Case {
  name: string
  container: string
  video: Partial<VideoTrack> & { encoder: string }
  audio?: Partial<AudioTrack>
  /** The source's codec if it has to be re-encoded; absent if the pictures are copied. */
  recoded?: string
}

const B_FRAMES = { bf: '2' }
const cases: Case[] = [
  { name: 'h264.mp4', container: 'mp4', video: { encoder: 'libx264', options: B_FRAMES } },
  { name: 'h264.mov', container: 'mov', video: { encoder: 'libx264', options: B_FRAMES } },
  { name: 'h264.mkv', container: 'matroska', video: { encoder: 'libx264', options: B_FRAMES } },
  { name: 'h264.ts', container: 'mpegts', video: { encoder: 'libx264', options: B_FRAMES } },
  { name: 'turned.mp4', container: 'mp4', video: { encoder: 'libx264', isTurned: true } },
  {
    name: 'turned.mov',
    container: 'mov',
    video: { encoder: 'h263', isTurned: true, width: 128, height: 96 },
    recoded: 'h263',
  },
  { name: 'mpeg4.avi', container: 'avi', video: { encoder: 'mpeg4' }, audio: { encoder: 'mp2' } },
  { name: 'hevc.mp4', container: 'mp4', video: { encoder: 'libx265' } },
  { name: 'mpeg4.mp4', container: 'mp4', video: { encoder: 'mpeg4' } },
  {
    name: 'mpeg2.ts',
    container: 'mpegts',
    video: { encoder: 'mpeg2video' },
    audio: { encoder: 'mp2' },
  },
  {
    name: 'vp9.webm',
    container: 'webm',
    video: { encoder: 'libvpx-vp9' },
    audio: { encoder: 'libopus' },
  },
  {
    name: 'vp8.webm',
    container: 'webm',
    video: { encoder: 'libvpx' },
    audio: { encoder: 'libopus' },
    recoded: 'vp8',
  },
  {
    name: 'odd.webm',
    container: 'webm',
    video: { encoder: 'libvpx', width: 65, height: 49 },
    audio: { encoder: 'libopus' },
    recoded: 'vp8',
  },
  {
    name: 'wmv2.wmv',
    container: 'asf',
    video: { encoder: 'wmv2' },
    audio: { encoder: 'wmav2' },
    recoded: 'wmv2',
  },
  { name: 'flv1.flv', container: 'flv', video: { encoder: 'flv' }, recoded: 'flv1' },
  {
    name: 'late-sound.mp4',
    container: 'mp4',
    video: { encoder: 'libx264', options: B_FRAMES },
    audio: { delay: 0.5 },
  },
  { name: 'late-video.mp4', container: 'mp4', video: { encoder: 'libx264', delay: 0.5 } },
  {
    name: 'late-video.webm',
    container: 'webm',
    video: { encoder: 'libvpx', delay: 0.5 },
    audio: { encoder: 'libopus' },
    recoded: 'vp8',
  },
]

for (const { name, container, video, audio = {}, recoded } of cases) {
  test(`${name}: ${recoded ? 're-encoded' : 'copied'}, the flash and the click stay together`, async (t) => {
    const soundAt = CLICK_SECONDS + (video.delay ?? 0) - (audio.delay ?? 0)
    const path = await make(name, container, {
      audio: {
        planes: [clickedChirp(SECONDS, RATE, soundAt)],
        sampleRate: RATE,
        encoder: 'aac',
        ...audio,
      },
      video: { seconds: SECONDS, flashes: [FLASH_FRAME], ...video },
    })
    const source = await readSound(path)
    const { video: prepared, file, path: out } = await makeOutputVideo(path, source.planes)
    assert.equal(prepared.recodedBecause, recoded ? `MP4 can't hold ${recoded}` : null)
    const bytes = await readFile(out)
    assert.deepEqual(file, { bytes: bytes.length, contentType: 'video/mp4', extension: 'mp4' })
    assert.ok(bytes.indexOf('moov') < bytes.indexOf('mdat'), 'the index comes first')
    const [was, is] = [await readVideo(path), await readVideo(out)]
    assert.equal(is.displayMatrix, was.displayMatrix)
    assert.equal(is.displayMatrix !== null, video.isTurned ?? false)
    if (recoded) assert.equal(is.codec, 'h264')
    else assert.deepEqual(is.pictures, was.pictures)
    assert.equal(is.times.length, was.times.length)
    is.times.forEach((time, i) => assertNear(time, was.times[i]!, 0.002))
    assertBetween(is.seconds, was.seconds - 0.002, was.seconds + 0.102) // the last one's duration may be missing
    const result = await readSound(out)
    assertNear(result.planes[0]!.length, source.planes[0]!.length, 1024)
    assertAlike(result.planes[0]!, source.planes[0]!, 0.9)
    assertNear(clickOf(result.planes[0]!, RATE), clickOf(source.planes[0]!, RATE), 0.001)
    const distance = clickOf(result.planes[0]!, RATE) - is.flash
    t.diagnostic(`the click is ${(1000 * distance).toFixed(1)} ms after the flash`)
    // AVI does not state the 10 ms that MP2 puts before the sound.
    assertNear(clickOf(source.planes[0]!, RATE) - was.flash, 0, 0.011)
    assertNear(distance, 0, 0.011)
  })
}
