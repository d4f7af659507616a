/** Files whose clock jumps, restarts or wraps: nothing is lost, and the picture stays in sync. */

import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { describe, test } from 'node:test'
import { measureSound } from '../../../../engine/media/read/measure.ts'
import { noise } from '../../../support/media/signals.ts'
import { clickedChirp, readVideo } from '../../../support/media/read-video.ts'
import { assertBetween, assertNear, makeOutputVideo, mediaFolder, readSound } from './read-sound.ts'

const { save, make } = mediaFolder()

const RATE = 48_000
/** Each part has a flash in frame 12, at 10 frames per second, and a click at the same time. */
const CLICK_SECONDS = 1.2
const SECONDS = 2.5

interface Kind {
  container: string
  video: { encoder: string; options?: Record<string, string> }
  audio: string
  recoded?: string
}

const KINDS: Record<string, Kind> = {
  'a transport stream': {
    container: 'mpegts',
    video: { encoder: 'libx264', options: { bf: '2' } },
    audio: 'aac',
  },
  'a program stream': {
    container: 'vob',
    video: { encoder: 'mpeg2video' },
    audio: 'mp2',
    recoded: 'lack times',
  },
  'FLV with H.264': { container: 'flv', video: { encoder: 'libx264' }, audio: 'aac' },
  'FLV, re-encoded': { container: 'flv', video: { encoder: 'flv' }, audio: 'aac', recoded: 'flv1' },
}

interface Part {
  delay: number
  soundSeconds?: number
}

let fileCount = 0

async function bytesOf({ container, video, audio }: Kind, part: Part): Promise<Buffer> {
  const { delay, soundSeconds = SECONDS } = part
  const planes = [clickedChirp(soundSeconds, RATE, CLICK_SECONDS)]
  const path = await make(`part ${fileCount++}`, container, {
    audio: { planes, sampleRate: RATE, encoder: audio, delay },
    video: { ...video, seconds: SECONDS, flashes: [CLICK_SECONDS * 10], delay },
  })
  return readFile(path)
}

/** Concatenates parts; for FLV, drops the header of all but the first. */
async function joinParts(kind: Kind, parts: readonly Part[]): Promise<string> {
  const bytes: Buffer[] = []
  for (const part of parts) bytes.push(await bytesOf(kind, part))
  const headerBytes = kind.container === 'flv' ? 13 : 0
  const joined = bytes.map((part, i) => (i === 0 ? part : part.subarray(headerBytes)))
  return save(`joined ${fileCount++}`, Buffer.concat(joined))
}

/** Returns the start of each click, in seconds. */
function clicksOf(plane: Float32Array): number[] {
  const clicks: number[] = []
  for (let i = 0; i < plane.length; i++) {
    if (Math.abs(plane[i]!) < 0.4) continue
    clicks.push(i / RATE)
    i += RATE / 2
  }
  return clicks
}

/** Makes the video that a job would return, with the mixture as its sound, and reads both back. */
async function throughVideo(path: string, recoded: string | undefined) {
  const { mixture, planes } = await readSound(path)
  const { sampleRate, streamIndex: soundIndex } = mixture
  const { video, path: to } = await makeOutputVideo(path, planes, { sampleRate, soundIndex })
  if (recoded) assert.match(video.recodedBecause ?? '', new RegExp(recoded))
  else assert.equal(video.recodedBecause, null)
  const pictures = await readVideo(to)
  const brightest = Math.max(...pictures.lights)
  const flashes = pictures.times.filter((_, i) => pictures.lights[i]! > brightest * 0.9)
  return { mixture, planes, pictures, flashes, clicks: clicksOf(planes[0]!) }
}

async function assertInStep(path: string, parts: number, kind: Kind): Promise<void> {
  const { mixture, planes, pictures, flashes, clicks } = await throughVideo(path, kind.recoded)
  const seconds = planes[0]!.length / RATE
  assertNear(seconds, parts * SECONDS, parts * 0.15)
  assertNear((await measureSound(path, { secondsMax: 60 }))!, seconds, 0.03 * parts)
  assert.equal(flashes.length, parts, 'all flashes are shown')
  assert.equal(clicks.length, parts, 'all clicks sound')
  for (const [i, flash] of flashes.entries()) assertNear(flash, clicks[i]!, 0.12)
  assertNear(pictures.seconds, seconds, 0.35)
  assert.equal(pictures.times.length, parts * SECONDS * 10, 'no picture is lost')
  const isJump = parts > 1
  assert.equal(mixture.remarks.length, isJump ? 1 : 0)
  if (isJump) assert.match(mixture.remarks[0]!, /jumps or restarts at 2\.\d\d/)
}

for (const [name, kind] of Object.entries(KINDS)) {
  describe(name, () => {
    test('a clock that starts over, four times', async () => {
      const parts = Array.from({ length: 5 }, () => ({ delay: 0 }))
      await assertInStep(await joinParts(kind, parts), 5, kind)
    })
    test('a clock that jumps ahead by hours, and back', async () => {
      const parts = [{ delay: 0 }, { delay: 40_000 }, { delay: 100 }]
      await assertInStep(await joinParts(kind, parts), 3, kind)
    })
  })
}

const FRAGMENTED = { movflags: 'frag_keyframe+empty_moov', frag_duration: '500000' }
/** Each part is a whole file; the pictures of all parts are encoded into one video. */
const FILES: Record<string, Kind & { containerOptions?: Record<string, string> }> = {
  'a transport stream, each part under PIDs of its own': {
    container: 'mpegts',
    video: { encoder: 'libx264', options: { bf: '2' } },
    audio: 'aac',
  },
  'Ogg with Theora': { container: 'ogg', video: { encoder: 'libtheora' }, audio: 'libvorbis' },
  'ASF with WMV': { container: 'asf', video: { encoder: 'wmv2' }, audio: 'wmav2' },
  'fragmented MP4': {
    container: 'mp4',
    video: { encoder: 'libx264', options: { bf: '2' } },
    audio: 'aac',
    containerOptions: FRAGMENTED,
  },
  MP4: { container: 'mp4', video: { encoder: 'libx264', options: { bf: '2' } }, audio: 'aac' },
  Matroska: { container: 'matroska', video: { encoder: 'libx264' }, audio: 'libopus' },
  'FLV, each part with its header': { container: 'flv', video: { encoder: 'flv' }, audio: 'aac' },
}
for (const [name, kind] of Object.entries(FILES)) {
  test(`${name}: concatenated files of several sizes stay in sync`, async () => {
    const parts: Buffer[] = []
    for (const [i, width] of [64, 96, 64].entries()) {
      // The second part's sound ends before its pictures; the third part's pictures follow right
      // then.
      const soundSeconds = i === 1 ? SECONDS - 0.4 : SECONDS
      const planes = [clickedChirp(soundSeconds, RATE, CLICK_SECONDS)]
      const audio = { planes, sampleRate: RATE, encoder: kind.audio }
      const video = { ...kind.video, seconds: SECONDS, flashes: [CLICK_SECONDS * 10], width }
      const containerOptions =
        kind.container === 'mpegts'
          ? { mpegts_start_pid: `${0x100 + 16 * i}` }
          : kind.containerOptions
      const tracks = { audio, video, ...(containerOptions && { containerOptions }) }
      const path = await make(`part ${fileCount++}`, kind.container, tracks)
      parts.push(await readFile(path))
    }
    const path = await save(`files ${fileCount++}`, Buffer.concat(parts))
    const found = await throughVideo(path, 'the source is 3 recordings, one after the other')
    const { mixture, planes, pictures, flashes, clicks } = found
    assert.match(mixture.remarks[0]!, /source is 3 recordings/)
    assert.equal(mixture.corruptPackets, 0)
    const seconds = planes[0]!.length / RATE
    assertNear(seconds, 3 * SECONDS - 0.4, 0.7) // fragmented MP4 starts 0.2 s before its sound
    assert.equal(clicks.length, 3, 'all clicks sound')
    assert.equal(flashes.length, 3, 'all flashes are shown')
    for (const [i, flash] of flashes.entries()) assertNear(flash, clicks[i]!, 0.12)
    assertNear(pictures.times.length, 3 * SECONDS * 10 - 4, 2)
    assertNear(pictures.seconds, seconds, 0.35)
  })
}

test('parts whose sound and picture differ in length stay in sync', async () => {
  const kind = KINDS['a transport stream']!
  const parts = [2.3, 2.7, 2.3, 2.7, 2.4].map((soundSeconds) => ({ delay: 0, soundSeconds }))
  const path = await joinParts(kind, parts)
  const { flashes, clicks, mixture } = await throughVideo(path, undefined)
  assert.equal(clicks.length, 5)
  assert.equal(flashes.length, 5)
  for (const [i, flash] of flashes.entries()) assertNear(flash, clicks[i]!, 0.15)
  assert.equal(mixture.remarks.length, 1)
})

test('a 33-bit clock that wraps is not a jump', async () => {
  const kind = KINDS['a transport stream']!
  const delay = 2 ** 33 / 90_000 - 2.8 // the muxer itself adds 1.4 s
  await assertInStep(await joinParts(kind, [{ delay }]), 1, kind)
})

test('a clock that jumps inside Matroska, with and without a picture', async () => {
  const audio = { planes: [noise(6, RATE)], sampleRate: RATE, encoder: 'flac' }
  const jumps = [{ afterSample: 138_240, seconds: 40_000 }]
  const video = { seconds: 6, encoder: 'libx264', jumps: [{ afterFrame: 29, seconds: 40_000 }] }
  const containerOptions = { max_interleave_delta: '0' }
  const tracks = [{ audio: { ...audio, jumps } }, { audio: { ...audio, jumps }, video }]
  for (const each of tracks) {
    const path = await make(`jump ${fileCount++}.mkv`, 'matroska', { ...each, containerOptions })
    const { mixture, planes } = await readSound(path)
    assertBetween(planes[0]!.length, 6 * RATE, 6.1 * RATE)
    assert.equal(mixture.remarks.length, 1)
    assertNear((await measureSound(path, { secondsMax: 60 }))!, 6, 0.1)
  }
})
