/** Files with several audio tracks: which one is read, and how the others are named. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  AV_DISPOSITION_COMMENT,
  AV_DISPOSITION_DEFAULT,
  AV_DISPOSITION_VISUAL_IMPAIRED,
} from 'node-av/constants'
import { openMixture } from '../../../../engine/media/read/decode.ts'
import { measureSound } from '../../../../engine/media/read/measure.ts'
import { assertClose } from '../../../support/basics/assert-close.ts'
import type { AudioTrack } from '../../../support/media/make-media.ts'
import { noise } from '../../../support/media/signals.ts'
import { assertNear, mediaFolder, NO_LIMITS, readSound } from './read-sound.ts'

const { make } = mediaFolder()

const RATE = 48_000
const ABSOLUTE = { absolute: 0.51 / 2 ** 15 }
const [LEFT, RIGHT] = [noise(3, RATE, 1), noise(3, RATE, 2)] as const
const mono = (plane: Float32Array, encoder = 'pcm_s16le') => ({
  planes: [plane],
  sampleRate: RATE,
  encoder,
})
const VIDEO = { seconds: 3, encoder: 'libx264' }

const cameras = [
  ['mov', 'pcm_s16le'],
  ['matroska', 'pcm_s16le'],
  ['avi', 'pcm_s16le'],
  ['mp4', 'flac'],
] as const
for (const [container, encoder] of cameras) {
  test(`two microphones as two tracks in ${container} are two channels of one mixture`, async () => {
    const audio = [mono(LEFT, encoder), mono(RIGHT, encoder)]
    const path = await make(`camera.${container}`, container, { audio, video: VIDEO })
    const { mixture, planes } = await readSound(path)
    assert.equal(mixture.channels, 2)
    assert.equal(mixture.channelMask, 3n)
    assertClose(planes[0]!, LEFT, ABSOLUTE)
    assertClose(planes[1]!, RIGHT, ABSOLUTE)
    assert.match(mixture.trackRemarks.join(' '), /2 tracks of one channel each.*one mixture/)
    assertNear((await measureSound(path, { secondsMax: 60 }))!, 3, 0.001)
    const single = await readSound(path, { track: 2 })
    assert.equal(single.planes.length, 1)
    assertClose(single.planes[0]!, RIGHT, ABSOLUTE)
    assert.match(single.mixture.trackRemarks.join(' '), /Track 2 .* is separated; left out: 1 /)
  })
}

test('for a model with one channel the two are mixed', async () => {
  const path = await make('mixed.mov', 'mov', { audio: [mono(LEFT), mono(RIGHT)] })
  const { mixture, planes } = await readSound(path, { channelsMax: 1 })
  assert.equal(mixture.channels, 1)
  assert.equal(mixture.sourceChannels, 2)
  const mean = LEFT.map((x, i) => (x + RIGHT[i]!) / 2)
  assertClose(planes[0]!, mean, ABSOLUTE)
})

const stereo = { planes: [LEFT, RIGHT], sampleRate: RATE, encoder: 'pcm_s16le' }
const unlike = [
  ['of another length', [mono(LEFT), mono(RIGHT.subarray(0, 2 * RATE))]],
  ['of another coding', [mono(LEFT), mono(RIGHT, 'pcm_s24le')]],
  ['of another rate', [mono(LEFT), { ...mono(RIGHT), sampleRate: 44_100 }]],
  ['in another language', [mono(LEFT), { ...mono(RIGHT), tags: { language: 'fra' } }]],
  [
    'of comments',
    [
      { ...mono(LEFT), disposition: AV_DISPOSITION_DEFAULT },
      { ...mono(RIGHT), disposition: AV_DISPOSITION_COMMENT },
    ],
  ],
  ['among three', [mono(LEFT), mono(RIGHT), mono(RIGHT)]],
  ['with two channels', [stereo, stereo]],
] as const
for (const [how, audio] of unlike) {
  test(`a second track ${how} is left out, and named`, async () => {
    const path = await make(`${how}.mkv`, 'matroska', { audio })
    const { mixture, planes } = await readSound(path)
    assert.equal(planes.length, audio[0].planes.length)
    assert.equal(mixture.trackRemarks.length, 1)
    assert.match(mixture.trackRemarks[0]!, /Track \d .* is separated; left out: \d /)
  })
}

test('languages, commentary and description are named; each can be chosen', async () => {
  const planes = [1, 2, 3, 4].map((seed) => noise(2, RATE, seed))
  const about: Partial<AudioTrack>[] = [
    { tags: { language: 'eng' }, disposition: AV_DISPOSITION_DEFAULT },
    { tags: { language: 'fre', title: 'Doublage' } },
    { tags: { language: 'eng', title: 'With the director' }, disposition: AV_DISPOSITION_COMMENT },
    { tags: { language: 'eng' }, disposition: AV_DISPOSITION_VISUAL_IMPAIRED },
  ]
  const audio = about.map((fields, i) => ({ ...mono(planes[i]!), ...fields }))
  const path = await make('film.mkv', 'matroska', { audio, video: { ...VIDEO, seconds: 2 } })
  const first = await readSound(path)
  assertClose(first.planes[0]!, planes[0]!, ABSOLUTE)
  assert.deepEqual(first.mixture.trackRemarks, [
    'The file has 4 tracks of sound. Track 1 (eng, pcm_s16le, 1 channel) is separated; left out: ' +
      '2 (fre, pcm_s16le, 1 channel, "Doublage"), ' +
      '3 (eng, pcm_s16le, 1 channel, commentary, "With the director"), ' +
      '4 (eng, pcm_s16le, 1 channel, audio description). Set audio_track to read another.',
  ])
  for (const [i, plane] of planes.entries()) {
    const { planes: chosen } = await readSound(path, { track: i + 1 })
    assertClose(chosen[0]!, plane, ABSOLUTE)
  }
})

test('a missing track is INVALID_MEDIA, and the message says how many there are', async () => {
  const path = await make('one.mkv', 'matroska', { audio: mono(LEFT), video: VIDEO })
  const refused = { code: 'INVALID_MEDIA', message: /has 1 track of sound.*can't be 2/ }
  await assert.rejects(openMixture(path, { ...NO_LIMITS, track: 2 }), refused)
  await assert.rejects(measureSound(path, { secondsMax: 60, track: 2 }), refused)
  const { mixture } = await readSound(path, { track: 1 })
  assert.deepEqual(mixture.trackRemarks, [])
})
